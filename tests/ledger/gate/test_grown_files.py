"""Files that are new or larger, and which of them an init system reads."""

import stat

from bootlab.build.formats.cpio import Entry
from bootlab.ledger.gate.grown_files import files_of, grown_files
from bootlab.ledger.gate.result import GrownKind


def entry(path: str, data: bytes = b"", kind: int = stat.S_IFREG) -> Entry:
    return Entry(path, kind | 0o644, data)


BEFORE = [entry("init", b"one"), entry("./etc/motd", b"hello"), entry("usr/lib/systemd/system/a.service", b"[Unit]")]


def found(*after: Entry) -> list[tuple[GrownKind, str, int | None, int]]:
    rows = grown_files(files_of(BEFORE), files_of(after))
    return [(one.kind, one.name, one.before, one.after) for one in rows]


def test_what_is_as_it_was_or_smaller_is_not_named() -> None:
    assert found(*BEFORE) == []
    assert found(*BEFORE[1:], entry("init", b"1")) == []


def test_a_new_file_and_a_larger_one_by_a_byte_are_named() -> None:
    larger = found(entry("init", b"one."), *BEFORE[1:], entry("bin/x", b""))
    assert larger == [(GrownKind.FILE, "/init", 3, 4), (GrownKind.FILE, "/bin/x", None, 0)]


def test_folders_and_devices_are_no_files_and_links_are() -> None:
    new = [entry("d", kind=stat.S_IFDIR), entry("dev/null", kind=stat.S_IFCHR), entry("l", b"init", stat.S_IFLNK)]
    assert found(*BEFORE, *new) == [(GrownKind.FILE, "/l", None, 4)]


def test_units_are_told_as_such_and_also_where_only_their_words_changed() -> None:
    wants = "etc/systemd/system/multi-user.target.wants/b.service"
    units = [
        entry("etc/systemd/system/b.service", b"[Service]"),
        entry(wants, b"../b.service", stat.S_IFLNK),
        entry("etc/bootlab/units/c.unit", b"exec /bin/c"),
        entry("etc/init.d/d", b"#!/bin/sh"),
        entry("lib/systemd/system/a.service.d/more.conf", b"[Unit]"),
    ]
    kinds = {name: kind for kind, name, _, _ in found(*BEFORE, *units)}
    assert kinds == {f"/{one.path}": GrownKind.UNIT for one in units}
    other = entry("usr/lib/systemd/system/a.service", b"[Exec]")
    assert found(*BEFORE[:2], other) == [(GrownKind.UNIT, "/usr/lib/systemd/system/a.service", 6, 6)]
    assert found(*BEFORE, entry("etc/systemd/journald.conf", b"x"))[0][0] is GrownKind.FILE
