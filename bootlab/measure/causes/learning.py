"""Why a boot that is to learn has printed nothing ([rootfs.readahead] and [rootfs.preload] with `record`)."""

import re
from collections.abc import Iterator

from bootlab.build.root.preload import HABITS
from bootlab.build.root.printed import Printed
from bootlab.build.root.readahead import PACKS
from bootlab.system import Rootfs, System


def find_learning_cause(system: System, console: str) -> str | None:
    """Return what a boot was to print and has not, and why; None where nothing is missing."""
    return "; ".join(_missing(system.rootfs, console)) or None if system.rootfs is not None else None


def _missing(root: Rootfs, console: str) -> Iterator[str]:
    if root.readahead is not None and root.readahead.record and not _facts(PACKS, console, "end"):
        goal = "the last unit" if root.bootlab_init else f"{root.readahead.goal} (rootfs.readahead.goal)"
        yield (
            f"bootlab-readahead has printed no {PACKS.name}: the boot was over before {goal} was reached; "
            f"{_waits(PACKS)}"
        )
    if root.preload is not None and root.preload.record and not _facts(HABITS, console, "end"):
        yield f"bootlab-preload has printed no {HABITS.name}: {_of_sessions(root, console)}"


def _of_sessions(root: Rootfs, console: str) -> str:
    if failed := _facts(HABITS, console, "failed"):
        return failed[-1]
    if missed := _facts(HABITS, console, "missed"):
        return (
            f"it was not there yet when a session of {missed[0]} began: what starts it must come before the login "
            "window is used"
        )
    if _facts(HABITS, console, "watching"):
        return f"no session began, or what its start reads was not read to the end; {_waits(HABITS)}"
    if root.bootlab_init:
        return "it was never started: it needs a unit with exec /sbin/bootlab-preload watch"
    return "it was never started: default.target wants bootlab-preload.service, and systemd started another target"


def _waits(printed: Printed) -> str:
    return f'check.console = "fact {printed.facts}end" waits for it'


def _facts(printed: Printed, console: str, name: str) -> list[str]:
    return re.findall(rf"bootlab: fact {re.escape(printed.facts + name)} ([^\r\n]+)", console)
