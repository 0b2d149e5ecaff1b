"""Puts bootlab-preload into a root file system: a service beside the login window, and a line of PAM's for sessions.

What it knows keeps its room, whatever it is: a root that learns and one that reads have all files at one place.
"""

from bootlab.build.cache import file_sha256
from bootlab.build.root.file_tree import FileTree
from bootlab.build.root.printed import ORIGIN, PATH, PLACES, Learned, Printed
from bootlab.errors import InputError
from bootlab.sources import GUEST
from bootlab.system import Preload

HABITS = Printed(
    "preload", "list of habits", rb"f (\d{1,19} ){1,8}%b|%b|%b|user \S{1,63} \d{1,19}" % (PATH, PLACES, ORIGIN)
)
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
    learned = learned_habits(wanted)
    if learned is not None and len(learned.data) > _ROOM:
        raise InputError(f"{learned.key}: habits of {len(learned.data)} bytes; there is room for {_ROOM}")
    if learned is not None or wanted.record:
        tree.add_file(_HABITS, (HABITS.record if learned is None else learned.data).ljust(_ROOM, b"\0"))


def learned_habits(wanted: Preload) -> Learned | None:
    """Return what is known of sessions; None where nothing is. Raises InputError for habits that cannot be read."""
    if wanted.habits is not None:
        key = "rootfs.preload.habits"
        return Learned(HABITS, key, HABITS.read(wanted.habits, key))
    key, text = "rootfs.preload.text", wanted.text.encode(errors="surrogateescape")
    return Learned(HABITS, key, HABITS.expect_whole(text, key)) if text else None


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
