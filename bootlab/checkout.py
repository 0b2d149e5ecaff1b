"""Finds the checkout of bootlab's sources, and what in it is not Python: C sources, patches and figures."""

from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
GUEST = CHECKOUT / "guest"
"""C and shell programs that run inside of a guest."""
PATCHES = CHECKOUT / "patches"
"""Patches to Linux and U-Boot."""
PLUGIN = CHECKOUT / "build" / "plugin" / "bootlab-plugin.so"
"""What `make setup` makes of plugin/."""
MEASURED = CHECKOUT / "docs" / "measured.json"
"""Our own figures for the catalogue of techniques."""
