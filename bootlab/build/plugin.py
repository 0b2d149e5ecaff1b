"""Where the compiled QEMU plugin is, and how an installed bootlab gets it: built once, into its user's cache."""

import os
import platform
from pathlib import Path

from bootlab.build.cache import file_sha256
from bootlab.build.workshop import Workshop
from bootlab.errors import MissingTool
from bootlab.process import run
from bootlab.sources import BUILT_PLUGIN, INSTALLED, PLUGIN

_NAME = "bootlab-plugin.so"
_DEADLINE_S = 300.0


def find_plugin(shop: Workshop) -> Path:
    """Return the plugin's path: $BOOTLAB_PLUGIN, else that of the checkout, else one that is built into the cache.

    Raises MissingTool when it has not been built, or there is no compiler; ProgramFailed with the compiler's words.
    """
    named = os.environ.get("BOOTLAB_PLUGIN")
    if INSTALLED and not named:
        return _built(shop)
    path = Path(named or BUILT_PLUGIN)
    if not path.is_file():
        raise MissingTool(f"{path}: the QEMU plugin is not built", hint="make setup builds it")
    return path


def _built(shop: Workshop) -> Path:
    files = sorted(path for path in PLUGIN.rglob("*") if path.is_file())
    key = " ".join([platform.machine(), *(f"{path.relative_to(PLUGIN)} {file_sha256(path)}" for path in files)])

    def build(into: Path) -> None:
        shop.tell("building the QEMU plugin, once")
        run(["make", "--silent", "-C", PLUGIN, f"OUT={into}"], deadline_s=_DEADLINE_S, package="make")

    return shop.cache.make("plugin", key, build) / _NAME
