"""Root file system images: each file system by its own tools, read back by them, the same bytes twice, made once."""

import os
import re
import shutil
import stat
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.build.cache import Cache, file_sha256
from bootlab.build.formats import ext4
from bootlab.build.formats.cpio import Entry
from bootlab.build.formats.tar import XATTR
from bootlab.build.given_root.given import GivenRoot
from bootlab.build.root import rootfs
from bootlab.build.root.content import Ingredients
from bootlab.build.root.preload import HABITS
from bootlab.build.root.readahead import PACKS
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError, MissingTool
from bootlab.process import require_program, run
from bootlab.system import Compression, FileSystem, Rootfs
from tests.build.given_root.images import member, tar

_ADMIN = "/usr/sbin:/sbin:/usr/bin:/bin"
_needs_ext4 = pytest.mark.skipif(shutil.which("debugfs", path=_ADMIN) is None, reason="needs e2fsprogs")
_needs_squashfs = pytest.mark.skipif(shutil.which("sqfstar", path=_ADMIN) is None, reason="needs squashfs-tools")
_needs_erofs = pytest.mark.skipif(
    shutil.which("mkfs.erofs", path=_ADMIN) is None or shutil.which("fakeroot") is None,
    reason="needs erofs-utils and fakeroot",
)
_EVERY = [
    pytest.param(FileSystem.EXT4, marks=_needs_ext4),
    pytest.param(FileSystem.SQUASHFS, marks=_needs_squashfs),
    pytest.param(FileSystem.EROFS, marks=_needs_erofs),
]
_TEXT = b"the same words again and again\n" * 20_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of every kind, by an ordinary user."""
    root = tmp_path / "root"
    (root / "etc/with blank").mkdir(parents=True)
    (root / "etc/motd").write_text("hello\n")
    (root / "etc/with blank" / 'a "quoted" name').write_text("odd\n")
    (root / "etc/text").write_bytes(_TEXT)
    (root / "etc/empty").write_bytes(b"")
    (root / "etc/secret").write_text("x")
    (root / "etc/secret").chmod(0o4600)
    os.link(root / "etc/motd", root / "etc/same")
    (root / "etc/soft").symlink_to("motd")
    (root / "etc/far").symlink_to("/" + "long/" * 30)
    os.mkfifo(root / "etc/pipe")
    return root


def _build(folder: Path, cache: Cache, tell: Callable[[str], None] = lambda line: None, **recipe: object) -> Path:
    value = Rootfs.model_validate({"directory": folder, "busybox": False, **recipe})
    return rootfs.build(Workshop(cache, tell=tell), value, Ingredients("rootfs", "x86_64"))


def _ext4(image: Path, command: str) -> str:
    return run([require_program("debugfs"), "-R", command, image]).text


@_needs_ext4
def test_ext4_holds_every_kind_of_file(folder: Path, tmp_path: Path) -> None:
    image = _build(folder, Cache(tmp_path / "cache"))
    run([require_program("e2fsck"), "-f", "-n", image])
    assert _ext4(image, "cat /etc/motd") == _ext4(image, "cat /etc/same") == "hello\n"
    assert _ext4(image, 'cat "/etc/with blank/a ""quoted"" name"') == "odd\n"
    assert _ext4(image, "cat /etc/text").encode() == _TEXT
    assert re.search(r"Mode:\s+04600\s", _ext4(image, "stat /etc/secret"))
    assert re.search(r"Links: 2\s", _ext4(image, "stat /etc/same"))
    assert 'Fast link dest: "motd"' in _ext4(image, "stat /etc/soft")
    assert _ext4(image, "cat /etc/far") == "/" + "long/" * 30 or "long/long" in _ext4(image, "stat /etc/far")
    assert "Type: FIFO" in _ext4(image, "stat /etc/pipe")
    console = _ext4(image, "stat /dev/console")
    assert "Type: character special" in console and "05:01" in console
    for path in ("/etc/motd", "/etc", "/dev/console"):
        assert re.search(r"User:\s+0\s+Group:\s+0\s", _ext4(image, f"stat {path}")), path


@_needs_ext4
def test_ext4_has_more_hard_links_than_a_block_of_their_folder_holds(folder: Path, tmp_path: Path) -> None:
    for number in range(300):
        (folder / f"etc/one of many names of motd, {number:03}").hardlink_to(folder / "etc/motd")
    image = _build(folder, Cache(tmp_path / "cache"))
    run([require_program("e2fsck"), "-f", "-n", image])
    assert _ext4(image, 'cat "/etc/one of many names of motd, 299"') == "hello\n"


@_needs_ext4
def test_ext4_is_as_large_as_asked_and_has_a_journal_or_none(folder: Path, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    sized = _build(folder, cache, size_mib=24, journal=False)
    assert sized.stat().st_size == 24 << 20
    assert "has_journal" not in _ext4(sized, "features")
    assert "has_journal" in _ext4(_build(folder, cache), "features")
    assert _build(folder, cache).stat().st_size == 10 << 20
    (folder / "etc/large").write_bytes(bytes(1 << 20))
    with pytest.raises(InputError, match=r"rootfs\.size_mib: 1 MiB are too few for [\d.]+ MiB"):
        _build(folder, cache, size_mib=1, journal=False)
    with pytest.raises(InputError, match=r"rootfs\.size_mib: 9 MiB are too few for a journal"):
        _build(folder, cache, size_mib=9)


@_needs_ext4
def test_ext4_keeps_owners_and_device_numbers_of_packages(tmp_path: Path) -> None:
    entries = [
        Entry("shadow", stat.S_IFREG | 0o640, b"x", owner=(0, 42)),
        Entry("disk", stat.S_IFBLK | 0o660, device=(259, 300), owner=(0, 6)),
        Entry("mine", stat.S_IFDIR | 0o2750, owner=(1000, 100000)),
    ]
    image = tmp_path / "image"
    ext4.make_from(sorted(entries, key=lambda entry: entry.path), image, None, journal=False)
    run([require_program("e2fsck"), "-f", "-n", image])
    assert re.search(r"User:\s+0\s+Group:\s+42\s", _ext4(image, "stat /shadow"))
    assert re.search(r"User:\s+1000\s+Group:\s+100000\s", _ext4(image, "stat /mine"))
    disk = _ext4(image, "stat /disk")
    assert "Type: block special" in disk and re.search(r"259:300|103:12c", disk)


def _squashfs_files(image: Path, out: Path) -> dict[str, str]:
    listing = run(["unsquashfs", "-lln", "-d", "/", image]).text
    lines = (line.split(maxsplit=5) for line in listing.splitlines() if line[:1] in "-dlpcb")
    return {words[-1].partition(" -> ")[0].lstrip("/"): f"{words[0]} {words[1]}" for words in lines}


@_needs_squashfs
@pytest.mark.parametrize("how", Compression)
def test_squashfs_holds_every_kind_of_file(folder: Path, tmp_path: Path, how: Compression) -> None:
    image = _build(folder, Cache(tmp_path / "cache"), filesystem="squashfs", compression=how.value)
    listing = run(["unsquashfs", "-lln", image]).text
    assert re.search(r"^-rws?S?-*\s+0/0\s+1 .*squashfs-root/etc/secret$", listing, re.MULTILINE), listing
    assert re.search(r"^crw-------\s+0/0\s+5,\s*1 .*/dev/console$", listing, re.MULTILINE)
    assert re.search(r"^prw-r--r--\s+0/0\s.*/etc/pipe$", listing, re.MULTILINE)
    assert "squashfs-root/etc/soft -> motd" in listing
    for name, content in (("etc/text", _TEXT), ("etc/motd", b"hello\n"), ("etc/same", b"hello\n")):
        assert run(["unsquashfs", "-cat", image, name]).stdout == content
    facts = run(["unsquashfs", "-stat", image]).text
    if how is Compression.NONE:
        assert image.stat().st_size > len(_TEXT)
        assert "Data is uncompressed" in facts or "uncompressed" in facts.lower()
    else:
        assert image.stat().st_size < len(_TEXT) / 10
        assert f"Compression {how.value}" in facts


@_needs_erofs
@pytest.mark.parametrize("how", [Compression.NONE, Compression.LZ4, Compression.XZ, Compression.ZSTD, Compression.GZIP])
def test_erofs_holds_every_kind_of_file(folder: Path, tmp_path: Path, how: Compression) -> None:
    try:
        image = _build(folder, Cache(tmp_path / "cache"), filesystem="erofs", compression=how.value)
    except MissingTool as error:
        # Debian 12's erofs-utils packs with lz4 alone, and says so.
        assert how not in (Compression.NONE, Compression.LZ4)
        assert f"cannot pack with {how.value}" in error.message and "it can with lz4" in (error.hint or "")
        return
    run([require_program("fsck.erofs"), image])
    out = tmp_path / "out"
    run(["fakeroot", "--", require_program("fsck.erofs"), "--extract=" + str(out), image])
    assert (out / "etc/text").read_bytes() == _TEXT
    assert (out / "etc/same").read_text() == "hello\n" and (out / "etc/soft").readlink() == Path("motd")
    told = run([require_program("dump.erofs"), "--path=/etc/secret", image]).text
    assert re.search(r"Uid: 0\s+Gid: 0\s+Access: 4?0?600|Access: 4600", told), told
    assert (image.stat().st_size < len(_TEXT) / 2) == (how is not Compression.NONE)


def test_erofs_has_no_lzo(folder: Path, tmp_path: Path) -> None:
    if shutil.which("mkfs.erofs", path=_ADMIN) is None or shutil.which("fakeroot") is None:
        pytest.skip("needs erofs-utils and fakeroot")
    with pytest.raises(InputError, match=r"rootfs\.compression: erofs has no lzo"):
        _build(folder, Cache(tmp_path / "cache"), filesystem="erofs", compression="lzo")


@pytest.mark.parametrize("filesystem", _EVERY)
def test_the_same_files_give_the_same_bytes_anywhere_and_are_packed_once(
    folder: Path, tmp_path: Path, filesystem: FileSystem
) -> None:
    mine, told = Cache(tmp_path / "mine"), list[str]()
    first = _build(folder, mine, told.append, filesystem=filesystem.value)
    assert told == [f"making the {filesystem.value} root file system"]
    moved = folder.rename(tmp_path / "a longer name of the folder")
    for path in (moved / "etc/motd", moved / "etc"):
        os.utime(path, (1, 1))
    assert _build(moved, mine, told.append, filesystem=filesystem.value) == first
    assert len(told) == 1, "packed once"
    second = _build(moved, Cache(tmp_path / "yours"), filesystem=filesystem.value)
    assert file_sha256(second) == file_sha256(first)
    assert second.relative_to(tmp_path / "yours") == first.relative_to(tmp_path / "mine")


@pytest.mark.parametrize("filesystem", _EVERY)
def test_what_decides_the_bytes_makes_another_image(folder: Path, tmp_path: Path, filesystem: FileSystem) -> None:
    cache, form = Cache(tmp_path / "cache"), filesystem.value
    first = _build(folder, cache, filesystem=form)
    packed = _build(folder, cache, filesystem=form, device="pmem")
    assert packed != first and packed.stat().st_size % (2 << 20) == 0
    assert packed.read_bytes().startswith(first.read_bytes())
    (folder / "etc/motd").write_text("hallo\n")
    assert _build(folder, cache, filesystem=form) != first


def test_a_missing_maker_is_named_with_its_package_before_anything_is_packed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("bootlab.process._ADMIN_FOLDERS", ())
    for filesystem, package in (("ext4", "e2fsprogs"), ("squashfs", "squashfs-tools"), ("erofs", "fakeroot")):
        told = list[str]()
        with pytest.raises(MissingTool) as caught:
            _build(folder, Cache(tmp_path / "cache"), told.append, filesystem=filesystem)
        assert caught.value.hint == f"apt-get install {package}"
        assert told == []


@pytest.mark.parametrize("filesystem", _EVERY)
def test_capabilities_and_owners_of_a_root_that_was_handed_over_are_in_the_image(
    filesystem: FileSystem, tmp_path: Path
) -> None:
    capability = bytes.fromhex("0100000200200000000000000000000000000000")
    ping = member(tarfile.REGTYPE, mode=0o755, uid=7, gid=8)
    ping.pax_headers = {f"{XATTR}security.capability": capability.decode(errors="surrogateescape")}
    archive = tmp_path / "root.tar"
    archive.write_bytes(tar({"bin/": "", "bin/ping": ping, "bin/also": member(tarfile.LNKTYPE, linkname="bin/ping")}))
    told: list[str] = []
    shop = Workshop(Cache(tmp_path / "cache"), tell=told.append)
    recipe = Rootfs(source=archive, busybox=False, filesystem=filesystem)
    image = rootfs.build(shop, recipe, Ingredients("rootfs", "x86_64", given=GivenRoot(shop, archive)))
    if filesystem is FileSystem.EXT4:
        assert "01 00 00 02 00 20" in _ext4(image, "ea_get -x /bin/ping security.capability")
        assert re.search(r"User: +7 +Group: +8\b", _ext4(image, "stat /bin/also"))
    # squashfs keeps it as it is; a file system that does not says so.
    assert (capability[:8] in image.read_bytes()) == (filesystem is not FileSystem.EROFS)
    assert any("are not kept" in line for line in told) == (filesystem is FileSystem.EROFS)


@_needs_ext4
def test_a_root_that_a_pack_lays_out_is_another_file_system(folder: Path, tmp_path: Path) -> None:
    cache, packs = Cache(tmp_path / "cache"), [tmp_path / "one", tmp_path / "other"]
    for path, names in zip(packs, (("etc/text", "etc/motd"), ("etc/motd", "etc/text")), strict=True):
        rest = "root 1\nkernel 6.1\ngoal g\npackages 1\nlearned 1\norder block\n"
        rest += "".join(f"f {name}\n" for name in names) + "d 0 0 4096 -1\nd 1 0 4096 -1\n"
        path.write_text(f"bootlab-readahead 1 {len(rest)} {zlib.crc32(rest.encode())}\n{rest}")
    images = [_build(folder, cache), *(_build(folder, cache, layout=path) for path in packs)]
    assert [_ext4(image, "cat /etc/motd") for image in images] == ["hello\n"] * 3
    places = [_first_block(image, "/etc/text") < _first_block(image, "/etc/motd") for image in images]
    assert places[1:] == [True, False]
    found = [re.search(r"Filesystem UUID:\s+(\S+)", _ext4(image, "stats")) for image in images]
    assert len({one[1] for one in found if one is not None}) == 3


@_needs_ext4
def test_what_was_learned_on_another_root_is_refused_as_the_image_is_made(folder: Path, tmp_path: Path) -> None:
    (folder / "sbin").mkdir()
    (folder / "sbin/init").symlink_to("/etc/motd")
    (folder / "lib/systemd").mkdir(parents=True)
    (folder / "lib/systemd/systemd").write_text("ELF")
    (folder / "etc/pam.d").mkdir()
    (folder / "etc/pam.d/common-session").write_text("session required pam_unix.so\n")
    cache, here, elsewhere = Cache(tmp_path / "cache"), tmp_path / "here", tmp_path / "elsewhere"
    origin = f"root {ext4.statfs_id(ext4.DEFAULT_UUID) & (1 << 63) - 1}\nkernel 6.1\npackages 1\n"
    for path, name in ((here, "etc/motd"), (elsewhere, "usr/bin/none")):
        path.write_bytes(PACKS.sealed(f"{origin}goal g\nlearned 1\norder block\nf {name}\nd 0 0 1 -1\n".encode()))
    habits = tmp_path / "habits"
    habits.write_bytes(HABITS.sealed(f"{origin}user ann 1000\nf 1000 etc/motd\n".encode()))
    assert _build(folder, cache, readahead={"pack": here}, preload={"habits": habits})
    for wrong, said in (
        ({"layout": elsewhere}, r"rootfs\.layout: none of its 1 files is in this root, usr/bin/none for one"),
        ({"readahead": {"pack": elsewhere}}, r"rootfs\.readahead\.pack: none of its 1 files is in this root"),
        ({"layout": here, "readahead": {"pack": here}}, r"rootfs\.readahead\.pack: .* a root that lies otherwise"),
        ({"layout": here, "preload": {"habits": habits}}, r"rootfs\.preload\.habits: .* a root that lies otherwise"),
    ):
        with pytest.raises(InputError, match=said):
            _build(folder, cache, **wrong)


def _first_block(image: Path, path: str) -> int:
    return int(_ext4(image, f"blocks {path}").split()[0])
