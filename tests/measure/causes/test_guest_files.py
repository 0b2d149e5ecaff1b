"""Files of a guest's initramfs, read for the cause of a failed boot."""

from bootlab.build.formats.cpio import Entry
from bootlab.measure.causes.guest_files import GuestFiles, read_program
from tests.measure.causes.guests import elf


def test_programs_are_read_by_their_headers() -> None:
    assert read_program(b"") == read_program(b"\x7fELF")
    assert read_program(elf(40, bits=32)).machine == "arm"
    assert read_program(elf(interpreter="/lib/ld.so")).interpreter == "/lib/ld.so"
    assert read_program(elf(3, bits=32, interpreter="/lib/ld.so")).interpreter == "/lib/ld.so"
    assert read_program(b"#! /bin/sh -e\n").interpreter == "/bin/sh"


def test_links_are_followed_also_in_the_middle_of_a_path() -> None:
    link = 0o120777
    entries = [Entry("lib64", link, b"usr/lib64"), Entry("usr/lib64/ld.so", link, b"../lib/ld-2.so")]
    files = GuestFiles([*entries, Entry("usr/lib/ld-2.so", 0o100755, b"x")], complete=True)
    found = files.find("/lib64/ld.so")
    assert found is not None and found.data == b"x"
    assert files.find("/lib64/other.so") is None
    assert GuestFiles([Entry("a", link, b"b"), Entry("b", link, b"a")], complete=True).find("/a") is None
