"""What a guest program has the system start once a boot is done: a unit, or a script, of each init that there is.

They lie in guest/PROGRAM/units: `systemd.service`, `bootlab.unit`, `lsb`.
"""

from pathlib import Path

from bootlab.build.cache import file_sha256
from bootlab.build.root.file_tree import FileTree
from bootlab.sources import GUEST

DEFAULT_GOAL = "multi-user.target"
"""The unit of systemd with which a boot is done."""
_STARTS, _STOPS = "2345", "016"
"""Runlevels of LSB scripts."""


def lay_units(tree: FileTree, program: str, goal: str = DEFAULT_GOAL, *, stops: bool = False) -> bool:
    """Put in the unit, or script, of each init that the root has, as `bootlab-PROGRAM`; False where it has none.

    `goal`: of systemd's; `stops`: what a script does is asked for as the machine is shut down, too.
    """
    name, units, laid = f"bootlab-{program}", _folder(program), False
    if "lib/systemd/systemd" in tree:
        unit = (units / "systemd.service").read_bytes().replace(b"@GOAL@", goal.encode())
        tree.add_file(f"etc/systemd/system/{name}.service", unit)
        # Its goal wants it: another target would bring it too early, never, or in a circle.
        place = f"etc/systemd/system/{goal}.wants/{name}.service"
        tree.add_link(place, f"/etc/systemd/system/{name}.service")
        laid = True
    if "sbin/bootlab-init" in tree:
        tree.add_file(f"etc/bootlab/units/{name}.unit", (units / "bootlab.unit").read_bytes())
        return True
    if "etc/rc2.d" in tree:
        tree.add_file(f"etc/init.d/{name}", (units / "lsb").read_bytes(), 0o755)
        for level in _STARTS:
            tree.add_link(f"etc/rc{level}.d/S99{name}", f"../init.d/{name}")
        for level in _STOPS if stops else "":
            tree.add_link(f"etc/rc{level}.d/K01{name}", f"../init.d/{name}")
        return True
    return laid


def identify_units(program: str) -> list[str]:
    """Return what decides what is laid."""
    return [file_sha256(path) for path in sorted(_folder(program).iterdir())]


def _folder(program: str) -> Path:
    return GUEST / program / "units"
