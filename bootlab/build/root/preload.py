"""Puts bootlab-preload into a root file system: a service beside the login window, and a line of PAM's for sessions.

What it knows keeps its room, whatever it is: a root that learns and one that reads have all files at one place.
"""

from bootlab.build.cache import file_sha256
from bootlab.build.root.file_tree import FileTree
from bootlab.build.root.printed import Printed
from bootlab.errors import InputError
from bootlab.sources import GUEST
from bootlab.system import Preload

HABITS = Printed("preload", "list of habits")
"""What sessions open."""
_HABITS = "etc/bootlab/preload"
_SERVICE = "etc/systemd/system/bootlab-preload.service"
_SESSIONS = "etc/pam.d/common-session"
_LINE = b"session\toptional\tpam_exec.so quiet /sbin/bootlab-preload session\n"
_ROOM = 512 << 10


def lay_preload(tree: FileTree, wanted: Preload) -> None:
    """Put it into `tree`, which holds the program already. Raises InputError that names the key."""
    sessions = tree.find(_SESSIONS)
    if "lib/systemd/systemd" not in tree or sessions is None:
        raise InputError(
            f"rootfs.preload: the root has no systemd, or no /{_SESSIONS}: nobody would say when a session begins",
            hint='packages with "systemd-sysv" and a login that asks PAM, such as "xdm"',
        )
    tree.add_file(_SESSIONS, sessions.data.rstrip(b"\n") + b"\n" + _LINE)
    tree.add_file(_SERVICE, (GUEST / "preload/units/systemd.service").read_bytes())
    tree.add_link("etc/systemd/system/default.target.wants/bootlab-preload.service", f"/{_SERVICE}")
    habits = HABITS.record if wanted.record else _habits(wanted)
    if habits:
        if len(habits) > _ROOM:
            raise InputError(f"rootfs.preload: habits of {len(habits)} bytes; there is room for {_ROOM}")
        tree.add_file(_HABITS, habits.ljust(_ROOM, b"\0"))


def identify_preload(wanted: Preload) -> dict[str, object]:
    """Return what decides what is laid. Raises InputError for habits that cannot be read."""
    document = wanted.model_dump(mode="json", exclude={"habits"})
    if wanted.habits is not None:
        try:
            document["habits"] = file_sha256(wanted.habits)
        except OSError as error:
            raise InputError(f"rootfs.preload.habits: {wanted.habits}: {error.strerror}") from error
    document["units"] = [file_sha256(path) for path in sorted((GUEST / "preload/units").iterdir())]
    return document


def _habits(wanted: Preload) -> bytes:
    if wanted.habits is not None:
        return HABITS.read(wanted.habits, "rootfs.preload.habits")
    return (
        HABITS.expect_whole(wanted.text.encode(errors="surrogateescape"), "rootfs.preload.text") if wanted.text else b""
    )
