"""Which applets of busybox the files of a root name."""

import stat

from bootlab.build.formats.cpio import Entry
from bootlab.build.root.applets_used import find_applets_spoken, find_applets_used

KNOWN = (
    "[",
    "ash",
    "cat",
    "init",
    "ls",
    "modprobe",
    "mount",
    "reboot",
    "sh",
    "sleep",
    "swapoff",
    "test",
    "umount",
    "vi",
)


def file(path: str, data: str | bytes) -> Entry:
    return Entry(path, stat.S_IFREG | 0o755, data.encode() if isinstance(data, str) else data)


def link(path: str, target: str) -> Entry:
    return Entry(path, stat.S_IFLNK | 0o777, target.encode())


BUSYBOX = (file("bin/busybox", b"\x7fELF\0ash\0cat\0/bin/vi\0"), link("bin/vi", "busybox"))


def test_every_word_of_a_script_counts_but_those_of_comments() -> None:
    script = "#!/bin/sh\n# vi is for repairs\nif [ -e /x ]; then /bin/mount -t proc proc /proc; fi\nsleep 1&\n"
    found = find_applets_used([*BUSYBOX, file("init", script)], KNOWN)
    assert found == {"[": "/init", "mount": "/init", "sh": "/init", "sleep": "/init"}


def test_variables_and_paths_of_other_folders_run_nothing() -> None:
    script = (
        "#!/bin/busybox sh\nsleep=1\nread -r cat </proc/init\necho $ls ${test} >/sys/vi\n$DIR/mount ${DIR}/umount\n"
    )
    found = find_applets_used([file("init", script)], KNOWN)
    # `read -r cat` sets a variable, and cannot be told from a command.
    assert set(found) == {"cat", "mount", "sh", "umount"}
    assert set(find_applets_used([file("init", "./ls\n../sbin/reboot\n/etc/sh\n")], KNOWN)) == {"ls", "reboot"}


def test_inittab_a_programs_own_paths_and_links_name_applets() -> None:
    entries = [
        *BUSYBOX,
        file("init", "#!/bin/sh\nexec /bin/busybox init\n"),
        file("etc/inittab", "::respawn:-/bin/sh\n::shutdown:/bin/umount -a -r\n"),
        file("sbin/app", b"\x7fELF\0ls is not run\0/bin/cat\0"),
        link("usr/bin/test", "../../bin/test"),
    ]
    found = find_applets_used(entries, KNOWN)
    assert found["cat"] == "/sbin/app" and found["umount"] == "/etc/inittab" and found["test"] == "/usr/bin/test"
    assert set(found) == {"cat", "init", "sh", "test", "umount"}


def test_what_the_kernel_and_init_run_of_themselves_stays() -> None:
    # No /sbin/init but busybox's: it is what the kernel starts, and there is no inittab.
    found = find_applets_used([*BUSYBOX, link("sbin/init", "/bin/busybox")], KNOWN, modules=True)
    assert set(found) == {"init", "modprobe", "reboot", "sh", "swapoff", "umount"}
    named = find_applets_used([file("init", b"\x7fELF\0")], KNOWN, starts=["/bin/ash"])
    assert named == {"ash": "kernel.cmdline"}


def test_what_an_applet_runs_by_name_stays_with_it() -> None:
    known = (*KNOWN, "ifup", "ip", "login", "getty", "run-parts", "udhcpc", "watch")
    entries = [*BUSYBOX, file("init", "ifup -a\n"), file("etc/network/interfaces", "auto eth0\niface eth0 inet dhcp\n")]
    found = find_applets_used(entries, known)
    assert set(found) == {"ifup", "ip", "run-parts", "sh", "udhcpc"} and found["udhcpc"] == "busybox's ifup"
    # busybox's init without an inittab, and what is typed at a getty.
    entries = [link("sbin/init", "/bin/busybox"), file("etc/inittab", "::respawn:/sbin/getty 115200 ttyS0\n")]
    assert set(find_applets_used(entries, known)) == {"getty", "init", "login"}


def test_a_path_in_a_program_whose_strings_do_not_end_counts() -> None:
    # So Go and Rust keep them: one behind the other.
    found = find_applets_used([file("init", b"\x7fELF\0exec: /sbin/modprobeno such file/bin/cat")], KNOWN)
    assert set(found) == {"cat", "modprobe"}


def test_a_word_that_a_program_may_run_is_told_and_is_not_taken_for_one_that_it_runs() -> None:
    program = b"\x7fELF" + bytes(12) + b"\2\0mount -t proc proc /proc\0sleep\0testing\0is cat\0"
    module = program.replace(b"\2\0", b"\1\0").replace(b"mount", b"umount")
    entries = [*BUSYBOX, file("lib/a.ko", module), file("sbin/app", program), file("etc/words", "ls vi\n")]
    assert find_applets_spoken(entries, KNOWN) == {"mount": "/sbin/app", "sleep": "/sbin/app"}
    assert not {"mount", "sleep"} & set(find_applets_used(entries, KNOWN))
