"""Where the compiled QEMU plugin is: $BOOTLAB_PLUGIN, or build/plugin/ of the checkout that `make setup` fills."""

import os
from pathlib import Path

from bootlab.checkout import PLUGIN
from bootlab.errors import MissingTool


def plugin_path() -> Path:
    """Return the plugin's path. Raises MissingTool when it has not been built."""
    path = Path(os.environ.get("BOOTLAB_PLUGIN") or PLUGIN)
    if not path.is_file():
        raise MissingTool(f"{path}: the QEMU plugin is not built", hint="make setup builds it")
    return path
