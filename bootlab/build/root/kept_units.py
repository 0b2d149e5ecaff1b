"""A root in kept RAM whose init says that it is ready (`kept_ram.settles`), and is told what its root is."""

import re
from typing import Final

from bootlab.build.root.file_tree import FileTree
from bootlab.build.root.init_units import lay_units
from bootlab.errors import InputError

UNITS: Final = "kept"
_FSTAB: Final = "etc/fstab"
_ROOT_LINE: Final = re.compile(rb"(?m)^[ \t]*[^#\s]\S*[ \t]+/[ \t].*$")
_OVERLAY: Final = b"overlay / overlay defaults 0 0"
"""What is mounted is no device: there is nothing that could be checked before it is written to."""


def lay_kept_units(tree: FileTree) -> None:
    """Put the unit or script into `tree`, which holds the program already, and the root's line into its fstab.

    Raises InputError that names the key for a root whose init is none of those that are known.
    """
    if not lay_units(tree, UNITS, stops=True):
        raise InputError(
            "rootfs.kept_ram.settles: the root has neither systemd nor bootlab-init, nor scripts in /etc/rc2.d",
            hint="without it, let the system start `bootlab-kept settle` and `bootlab-kept save` once it is ready",
        )
    if (table := tree.find(_FSTAB)) is not None:
        tree.add_file(_FSTAB, _ROOT_LINE.sub(_OVERLAY, table.data))
