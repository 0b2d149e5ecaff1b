"""Whether an initramfs is whole, before it is booted."""

import stat

import pytest

from bootlab.build.formats import cpio
from bootlab.build.formats.compress import compress
from bootlab.build.root import archive_check
from bootlab.build.root.file_tree import FileTree
from bootlab.errors import InputError
from bootlab.system import Compression
from tests.build.formats.archives import _archive


@pytest.mark.parametrize("how", Compression)
def test_a_whole_archive_is_whole_and_a_cut_one_is_not(how: Compression) -> None:
    data = compress(_archive(), how)
    entries = archive_check.entries(data + bytes(512))
    assert entries is not None and [entry.path for entry in entries if stat.S_ISREG(entry.mode)] == [
        "init",
        "usr/share/text",
    ]
    # A cut into the magic (9 bytes of lzo) is an unknown form; one that only takes padding after the trailer is whole.
    for kept in (10, 40, len(data) // 2, len(data) - 8):
        if how is Compression.NONE and kept == len(data) - 8:
            continue
        with pytest.raises(InputError, match="cut short|damaged"):
            archive_check.entries(data[:kept])


def test_archives_one_after_the_other_as_a_microcode_initramfs_has_them() -> None:
    early = FileTree()
    early.add_file("kernel/x86/microcode/some.bin", b"code")
    data = cpio.write(early.entries()) + bytes(300) + compress(_archive(), Compression.ZSTD)
    entries = archive_check.entries(data)
    assert entries is not None
    assert {"kernel/x86/microcode/some.bin", "init"} <= {entry.path for entry in entries}
    with pytest.raises(InputError):
        archive_check.entries(data[:-20])


def test_an_unknown_form_is_not_judged() -> None:
    assert archive_check.entries(b"hsqs" + bytes(100)) is None
