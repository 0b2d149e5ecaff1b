"""How the root is mounted and whether it is checked first: words for the initramfs and systemd, and for the kernel.

Who mounts the root reads rootflags=: initramfs-tools and bootlab's own initramfs (mount_root) as mount does, the kernel
itself the file system's own options alone. An init of one's own may read nothing of it.
"""

from bootlab.system import FileSystem, System
from bootlab.techniques.changes.command_line import has_words, word_value
from bootlab.techniques.changes.root_image import recipe_of
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import fact_is
from bootlab.techniques.model.published import none_published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text

ROOT_MOUNT = "root_mount"
"""The fact that says the root's type and options (guest/facts_system.sh)."""
CHECKED = "checked"
"""The fact that says what fsck was run for."""
_KEY = "rootflags"
_EXT4_MANUAL = "Linux 6.12, Documentation/admin-guide/ext4.rst"
_SKIP = "fsck.mode=skip"


def _flags(system: System) -> list[str]:
    return (word_value(system, _KEY) or "").split(",")


def _with_flag(system: System, flag: str) -> System:
    # The last word counts, and takes those before it away.
    flags = ",".join([*filter(None, _flags(system)), flag])
    words = [word for word in system.kernel.cmdline.split() if not word.startswith(f"{_KEY}=")]
    return system.with_part("kernel", cmdline=" ".join([*words, f"{_KEY}={flags}"]))


def _is_ext4(system: System, measured: Measured) -> str | None:
    if system.rootfs is None and system.image is None:
        return "the system has no root file system"
    recipe = recipe_of(system)
    if recipe is not None and recipe.filesystem is not FileSystem.EXT4:
        return f"the root is {recipe.filesystem.value}"
    mounted = measured.facts.get(ROOT_MOUNT)
    if mounted is not None and not mounted.startswith("ext4 "):
        return f"the root is mounted as {mounted.split(' ')[0]}"
    initramfs = system.initramfs
    if initramfs is not None and not (initramfs.installed or initramfs.mount_root):
        return f"the initramfs's own init mounts the root, and {_KEY}= may be nothing to it"
    return None


def _mounted_with(name: str, flag: str, shown: str, text: Text, *, by_mount: bool = False) -> Technique:
    """Return the technique that adds an option to the root's. `by_mount`: mount knows it, the kernel's own mount no."""

    def applies(system: System, measured: Measured) -> str | None:
        if (why := _is_ext4(system, measured)) is not None:
            return why
        if by_mount and system.initramfs is None and system.image is None:
            return f"the kernel mounts the root itself, and {flag} is an option of mount: /etc/fstab can say it"
        if flag in _flags(system):
            return f"{_KEY}= has {flag} already"
        return None

    return Technique(
        name=name,
        text=text,
        change=Change(Layer.CMDLINE, f"{_KEY}={flag}", lambda system, measured: _with_flag(system, flag), applies),
        proof=fact_is(ROOT_MOUNT, rf"[ ,]{shown}(,|$)"),
    )


def _is_checked(system: System, measured: Measured) -> str | None:
    if has_words(system, _SKIP):
        return f"the command line has {_SKIP} already"
    checked = measured.facts.get(CHECKED)
    if checked is None:
        return f"the baseline boot did not say what it had checked (fact {CHECKED})"
    return None if checked.strip() else "the baseline boot had no file system checked"


TECHNIQUES = (
    _mounted_with(
        "cmdline_noatime",
        "noatime",
        "noatime",
        Text(
            summary="mounts the root so that reading a file does not note when it was read",
            mechanism=(
                "By default (relatime) the first read of a file in a day, or since it was written, changes its inode, "
                "which the journal then writes. A boot reads hundreds of files; those of an image were never read."
            ),
            cost=(
                "who asks when a file was last read is told nothing new: mail programs that compare the time with "
                "that of the last write, tmpreaper, popularity-contest"
            ),
            risk=Risk.FUNCTION,
            published=(none_published("util-linux 2.38, mount(8)"),),
        ),
        by_mount=True,
    ),
    _mounted_with(
        "cmdline_data_writeback",
        "data=writeback",
        "data=writeback",
        Text(
            summary="lets the root's journal commit a file's size before the file's data are on the disk",
            mechanism=(
                "With data=ordered, the default, a commit of the journal first writes the data of each file that "
                "grew, and who waits for the commit (fsync) waits for all of them."
            ),
            cost=(
                "after a crash a file that was being written may hold what its blocks held before: old data, maybe "
                "of somebody else's deleted file"
            ),
            risk=Risk.SECURITY,
            published=(none_published(_EXT4_MANUAL),),
        ),
    ),
    _mounted_with(
        "cmdline_journal_commit",
        "commit=60",
        "commit=60",
        Text(
            summary="lets the root's journal gather changes for a minute instead of five seconds",
            mechanism=(
                "The journal's thread writes what has gathered every five seconds, so that a boot which takes longer "
                "shares the disk with it. Whoever calls fsync is not affected."
            ),
            cost="a power cut takes up to a minute of changes that nobody called fsync for, instead of five seconds",
            risk=Risk.FUNCTION,
            published=(none_published(_EXT4_MANUAL),),
        ),
    ),
    _mounted_with(
        "cmdline_nobarrier",
        "barrier=0",
        "nobarrier",
        Text(
            summary="lets the root's journal commit without having the disk empty its cache",
            mechanism=(
                "A commit is two flushes: one before the block that makes it valid and one behind it. A disk that "
                "turns writes all that its cache holds meanwhile, and who called fsync waits."
            ),
            cost=(
                "a power cut can leave the file system damaged, unless the disk's cache outlives it (a battery, "
                "capacitors)"
            ),
            risk=Risk.FUNCTION,
            published=(none_published(_EXT4_MANUAL),),
        ),
    ),
    Technique(
        name="cmdline_fsck_skip",
        text=Text(
            summary="mounts file systems without having fsck look at them first",
            mechanism=(
                "Of an ext4 file system that was left in order e2fsck reads one block and says so; to do that, it and "
                "its libraries are read from the disk and started, once for each file system, before anything is "
                "mounted for writing. The kernel replays the journal either way."
            ),
            cost="a file system that the kernel has marked as damaged is written to, and so damaged further",
            risk=Risk.FUNCTION,
            published=(none_published("systemd 252, systemd-fsck@.service(8)"),),
        ),
        change=Change(Layer.CMDLINE, _SKIP, lambda system, measured: system.with_cmdline(_SKIP), _is_checked),
        proof=fact_is(CHECKED, r"^\s*$"),
    ),
)
