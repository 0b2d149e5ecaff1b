"""udev's rules: which start programs, which file of a name counts, and what is no rule."""

import stat

from bootlab.build.formats.cpio import Entry
from bootlab.build.root.udev_rules import read_rules


def _file(path: str, text: str) -> Entry:
    return Entry(path, stat.S_IFREG | 0o644, text.encode())


RULES = """# A comment, then rules as Debian has them.
SUBSYSTEM=="net", ACTION=="add|remove", RUN+="ifupdown-hotplug"
KERNEL=="dm-[0-9]*", PROGRAM=="/usr/sbin/dmsetup udevflags \\"%k\\"", \\
  SYMLINK+="mapper/$result"
# A comment between.
ENV{DEVTYPE}=="disk", IMPORT{program}="ata_id --export $devnode", IMPORT{builtin}="blkid"
TEST=="queue/rotational", RUN{builtin}+="kmod load", NAME="a,b", ENV{X}=e"\\t", ATTR{y}==i"z"
LABEL="end"
"""


def test_rules_that_start_a_program_are_found_with_their_line() -> None:
    found = read_rules([_file("usr/lib/udev/rules.d/80-some.rules", RULES)])
    assert (found.files, found.rules, found.bad) == (1, 5, ())
    assert [(rule.line, rule.key, rule.program) for rule in found.forking] == [
        (2, "RUN", "/lib/udev/ifupdown-hotplug"),
        (3, "PROGRAM", "/sbin/dmsetup"),
        (6, "IMPORT{program}", "/lib/udev/ata_id"),
    ]
    assert found.forking[0].path == "/usr/lib/udev/rules.d/80-some.rules"


def test_a_file_of_etc_is_instead_of_one_of_the_same_name() -> None:
    ours, theirs = _file("etc/udev/rules.d/80-some.rules", ""), _file("usr/lib/udev/rules.d/80-some.rules", RULES)
    for entries in ([ours, theirs], [theirs, ours]):
        assert read_rules(entries).forking == ()
    assert read_rules([_file("usr/share/doc/80-some.rules", RULES)]).files == 0


def test_what_is_no_rule_is_named_with_its_line() -> None:
    text = 'KERNEL=="sda", MODE="0660"\nKERNEL="sdb" GROUP "disk"\n\nKERNEL=="sdc", SYMLINK+="it\n'
    bad = read_rules([_file("etc/udev/rules.d/10-mine.rules", text)]).bad
    assert [(one.path, one.line) for one in bad] == [("/etc/udev/rules.d/10-mine.rules", line) for line in (2, 4)]
    assert bad[0].message == 'expected KEY OP "VALUE" at: GROUP "disk"'
    assert bad[1].message == 'expected KEY OP "VALUE" at: SYMLINK+="it'
