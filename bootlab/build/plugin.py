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

    Raises MissingTool when it has not been built, or a checkout's sources are newer, or there is no compiler;
    ProgramFailed with the compiler's words.
    """
    named = os.environ.get("BOOTLAB_PLUGIN")
    if INSTALLED and not named:
        return _built(shop)
    path = Path(named or BUILT_PLUGIN)
    if not path.is_file():
        raise MissingTool(f"{path}: the QEMU plugin is not built", hint="make setup builds it")
    if not named and (newer := _newer_source(path)) is not None:
        raise MissingTool(f"{path}: the QEMU plugin is older than {newer}", hint="make setup builds it anew")
    return path


def build_in_checkout() -> None:
    """Build a checkout's plugin unless it is newer than its sources. An installed bootlab builds its own when it boots.

    Raises MissingTool (make, a compiler); ProgramFailed with the compiler's words.
    """
    if not INSTALLED:
        _make(BUILT_PLUGIN.parent)


def _make(into: Path) -> None:
    run(["make", "--silent", "-C", PLUGIN, f"OUT={into}"], deadline_s=_DEADLINE_S, package="make")


def _newer_source(built: Path) -> Path | None:
    """Return a source that has changed since, as make would see it: figures of both would have one name."""
    built_ns = built.stat().st_mtime_ns
    sources = (path for path in sorted(PLUGIN.rglob("*.[ch]")) if path.parent.name != "tests")
    return next((path for path in (PLUGIN / "Makefile", *sources) if path.stat().st_mtime_ns > built_ns), None)


def _built(shop: Workshop) -> Path:
    files = sorted(path for path in PLUGIN.rglob("*") if path.is_file())
    key = " ".join([platform.machine(), *(f"{path.relative_to(PLUGIN)} {file_sha256(path)}" for path in files)])

    def build(into: Path) -> None:
        shop.tell("building the QEMU plugin, once")
        _make(into)

    return shop.cache.make("plugin", key, build) / _NAME
