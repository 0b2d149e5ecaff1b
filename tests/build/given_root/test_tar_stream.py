"""Tar archives read forwards: every kind of file, every compression; cut off, damaged, hostile ones are refused."""

import bz2
import gzip
import io
import lzma
import random
import stat
import tarfile
from collections.abc import Callable, Sequence
from typing import IO

import pytest
import zstandard

from bootlab.build.formats import tar as our_tar
from bootlab.build.given_root.limits import Budget
from bootlab.build.given_root.tar_stream import ReadTar, TarMember, inside, is_tar, read_members, unpacked_head
from bootlab.errors import InputError
from tests.build.given_root.images import member, sha256, tar

CAPABILITY = bytes.fromhex("0100000200200000000000000000000000000000")


def read(data: bytes, budget: Budget | None = None) -> tuple[Sequence[TarMember], ReadTar]:
    about = ReadTar()
    return list(read_members(io.BytesIO(data), "root.tar", budget or Budget("root.tar"), about)), about


def test_every_kind_of_file_comes_with_its_owner_mode_and_numbers() -> None:
    capable = member(tarfile.REGTYPE, mode=0o4755, uid=7, gid=70000)
    capable.pax_headers = {f"{our_tar.XATTR}security.capability": CAPABILITY.decode(errors="surrogateescape")}
    data = tar(
        {
            "./": "",
            "./bin/": "",
            "./bin/ping": capable,
            "/etc/motd": b"hello",
            "./etc/also": member(tarfile.LNKTYPE, linkname="./etc/motd"),
            "./bin/sh": "-> busybox",
            "./dev/null": member(tarfile.CHRTYPE, devmajor=1, devminor=3),
            "./pipe": member(tarfile.FIFOTYPE),
        }
    )
    found, about = read(data)
    modes = {one.entry.path: stat.filemode(one.entry.mode) for one in found}
    assert modes["bin"] == "drwxr-xr-x" and modes["bin/ping"] == "-rwsr-xr-x" and modes["dev/null"][0] == "c"
    assert modes["bin/sh"] == "lrwxrwxrwx" and modes["pipe"][0] == "p" and "" not in modes
    by_path = {one.entry.path: one for one in found}
    assert by_path["bin/ping"].entry.owner == (7, 70000)
    assert by_path["bin/ping"].entry.xattrs == (("security.capability", CAPABILITY),)
    assert by_path["dev/null"].entry.device == (1, 3) and by_path["etc/motd"].entry.data == b"hello"
    assert by_path["etc/also"].link_to == "etc/motd"
    assert about.has_end and f"sha256:{about.sha256}" == sha256(data)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress, bz2.compress, zstandard.compress])
def test_what_is_cut_off_anywhere_is_an_error(pack: Callable[[bytes], bytes]) -> None:
    noise = random.Random(7)
    data = tar({f"etc/{number}": noise.randbytes(3000) for number in range(20)})
    packed = pack(data)
    found, about = read(packed)
    assert len(found) == 20 and f"sha256:{about.sha256}" == sha256(data)
    for size in (200, 700, len(packed) // 2 - 3):
        with pytest.raises(InputError, match=r"^root\.tar: .*(cut off|damaged)"):
            read(packed[:size])


def test_a_damaged_header_in_the_middle_is_no_end() -> None:
    data = bytearray(tar({"a": b"1", "b": b"2", "c": b"3"}))
    data[1024 + 20] ^= 0xFF
    with pytest.raises(InputError, match="damaged: bad checksum"):
        read(bytes(data))


def test_an_archive_without_its_end_is_read_and_told() -> None:
    data = tar({"a": b"1", "b": b"22"})
    # The last file's header and two bytes, as umoci writes it: not even its block is full.
    found, about = read(data[: 1024 + 512 + 2])
    assert [one.entry.data for one in found] == [b"1", b"22"] and not about.has_end
    with pytest.raises(InputError, match="it ends in the middle of b"):
        read(data[: 1024 + 512 + 1])
    assert read(bytes(1024))[0] == []


@pytest.mark.parametrize(
    ("name", "what", "match"),
    [
        ("../etc/passwd", b"x", "'../etc/passwd' leads out of the root: refused"),
        ("a/../../b", b"x", "leads out of the root"),
        ("a", member(tarfile.LNKTYPE, linkname="../../etc/shadow"), "leads out of the root"),
        ("x" * 300, b"x", "no file can have that name"),
        ("a", member(tarfile.CHRTYPE, devmajor=5000, devminor=0), "device 5000:0: no such can be"),
    ],
)
def test_hostile_members_are_refused_by_name(name: str, what: bytes | tarfile.TarInfo, match: str) -> None:
    with pytest.raises(InputError, match=match):
        read(tar({name: what}))


def test_an_owner_below_zero_is_refused() -> None:
    found = member(tarfile.REGTYPE, name="a")
    data = bytearray(found.tobuf(tarfile.GNU_FORMAT))
    data[108:116] = (-5 & (1 << 64) - 1).to_bytes(8, "big")
    data[148:156] = b"        "
    data[148:156] = f"{sum(data):06o}\0 ".encode()
    with pytest.raises(InputError, match="belongs to user -5"):
        read(bytes(data) + bytes(1024))


def test_bombs_stop_at_a_bound_that_is_named() -> None:
    zeros = tar({"big": bytes(8 << 20)})
    with pytest.raises(InputError, match=r"root\.tar: more than 4 GiB of files"):
        read(gzip.compress(zeros), Budget("root.tar", bytes=1 << 20))
    with pytest.raises(InputError, match=r"unpacks to more than 16 GiB"):
        read(zstandard.compress(tar({"a": b"x"}) + bytes(64 << 20)), Budget("root.tar", unpacked=4 << 20))
    with pytest.raises(InputError, match=r"more than 1,000,000 files"):
        read(tar({str(number): b"" for number in range(6)}), Budget("root.tar", files=5))
    # It says that it is as large as a disk: nothing of that is read first.
    for name, match in (("a", "more than 4 GiB"), ("", "it ends in the middle of")):
        found = member(tarfile.REGTYPE, size=1 << 50, name=name)
        with pytest.raises(InputError, match=match):
            read(found.tobuf(tarfile.GNU_FORMAT) + bytes(4096))


def test_what_is_not_kept_is_counted() -> None:
    labelled = member(tarfile.REGTYPE)
    labelled.pax_headers = {
        f"{our_tar.XATTR}security.selinux": "system_u",
        f"{our_tar.XATTR}user.mine": "mine",
        "SCHILY.acl.access": "user::rw-",
    }
    found, about = read(tar({"a": labelled, "b": member(b"V")}))
    assert [one.entry.path for one in found] == ["a"] and found[0].entry.xattrs == (("user.mine", b"mine"),)
    assert about.left_out == {
        "the attribute security.selinux": 1,
        "access control lists": 1,
        "members of tar's type 'V'": 1,
    }


def test_archives_are_known_by_their_first_block() -> None:
    def head(data: bytes) -> bytes:
        file: IO[bytes] = io.BytesIO(data)
        return unpacked_head(file)

    data = tar({"a": b"1"})
    assert is_tar(head(data)) and is_tar(head(gzip.compress(data))) and is_tar(head(zstandard.compress(data)))
    for other in (b"", b"\x1f\x8b damaged", gzip.compress(b"a disk"), bytes(4096), b"\x7fELF" * 200):
        assert not is_tar(head(other))
    assert inside("./a//b/", "x") == "a/b" and inside("/", "x") == ""
