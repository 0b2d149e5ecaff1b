"""Where bootlab's own files are that are not Python: C sources, patches, examples and figures.

In a checkout they lie beside the package. An installed package carries a copy of them (setup.py).
"""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CARRIED = _PACKAGE / "carried"
INSTALLED = _CARRIED.is_dir()
"""Whether this bootlab was installed as a package: then nobody runs `make setup` for it."""
SOURCES = _CARRIED if INSTALLED else _PACKAGE.parent
GUEST = SOURCES / "guest"
"""C and shell programs that run inside of a guest."""
PATCHES = SOURCES / "patches"
"""Patches to Linux and U-Boot."""
PLUGIN = SOURCES / "plugin"
"""The QEMU plugin's C sources."""
BUILT_PLUGIN = SOURCES / "build" / "plugin" / "bootlab-plugin.so"
"""What `make setup` makes of them in a checkout."""
SET_UP = "bootlab doctor --fix" if INSTALLED else "make setup"
"""What installs all that every boot needs, as a hint has it."""
SET_UP_BUILD = f"{SET_UP} --build" if INSTALLED else "make setup-build"
"""The same, and what kernels, bootloaders and images are built with."""
EXAMPLES = SOURCES / "examples"
"""System files to begin with, and what they name."""
SETUP = SOURCES / "scripts" / "setup"
"""The script that installs what bootlab needs of this machine."""
MEASURED = SOURCES / "docs" / "measured.json"
"""Our own figures for the catalogue of techniques."""
