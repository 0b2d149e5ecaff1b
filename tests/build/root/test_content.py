"""A recipe's content from every source at once: which lies over which, what is left out, and what decides the bytes."""

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.debian.root import DebianRoot, fetch_root
from bootlab.build.formats import cpio
from bootlab.build.root.content import BUSYBOX, Ingredients, collect, identify_content
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.system import Content, Initramfs, KeptRam, Rootfs
from tests.build.conftest import LocalArchive

MakePackage = Callable[..., Path]

_BUSYBOX = b"\x7fELF" + bytes(64) + b"\0".join(b"[ [[ ash cat insmod ls mount sh".split()) + b"\0\0"
_needs_apt = pytest.mark.skipif(
    shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None, reason="needs apt and dpkg"
)


def _made_of(folder: Path, **changes: object) -> Ingredients:
    (folder / "busybox").write_bytes(_BUSYBOX)
    (folder / "mark").write_bytes(b"mark")
    programs = {BUSYBOX: folder / "busybox", "/sbin/bootlab-mark": folder / "mark"}
    return Ingredients(**{"part": "rootfs", "arch": "x86_64", "programs": programs, **changes})  # type: ignore[arg-type]


def _listing(content: Content, made_of: Ingredients) -> dict[str, str]:
    entries = collect(content, made_of)
    return {entry.path: f"{stat.filemode(entry.mode)} {entry.data[:20].decode(errors='replace')}" for entry in entries}


def _root(make_archive: Callable[[], LocalArchive], tmp_path: Path) -> DebianRoot:
    archive = make_archive()
    files = {"bin/ls": "package's ls", "etc/motd": "package's", "etc/issue": "package's", "usr/share/doc/x": "doc"}
    archive.add("coreutils", "9", files)
    archive.publish()
    cache = Cache(tmp_path / "cache")
    return fetch_root(Workshop(cache, apt=archive.apt), ["coreutils"], "bookworm", "x86_64", key="rootfs.packages")


def test_texts_lie_over_all_files_and_a_script_can_be_executed(tmp_path: Path) -> None:
    (tmp_path / "motd").write_text("file's")
    texts = {"/etc/motd": "text's", "/etc/rc": "#!/bin/sh\n"}
    plain = Rootfs(files={"/etc/motd": tmp_path / "motd"}, busybox=False)
    recipe = plain.model_copy(update={"texts": texts})
    files = _listing(recipe, _made_of(tmp_path))
    assert (files["etc/motd"], files["etc/rc"]) == ("-rw-r--r-- text's", "-rwxr-xr-x #!/bin/sh\n")
    assert identify_content(recipe, _made_of(tmp_path)) != identify_content(plain, _made_of(tmp_path))
    taken = plain.model_copy(update={"texts": {"/sbin/bootlab-mark": "x"}})
    with pytest.raises(InputError, match=r'rootfs\.texts\."/sbin/bootlab-mark": the recipe puts its own file there'):
        collect(taken, _made_of(tmp_path))


@_needs_apt
def test_later_sources_lie_over_earlier_ones(make_archive: Callable[[], LocalArchive], tmp_path: Path) -> None:
    folder = tmp_path / "root"
    (folder / "etc").mkdir(parents=True)
    for name in ("etc/motd", "etc/issue"):
        (folder / name).write_text("folder's")
    for name in ("motd", "init"):
        (tmp_path / name).write_text("recipe's")
    recipe = Rootfs(directory=folder, init=tmp_path / "init", files={"/etc/motd": tmp_path / "motd"})
    files = _listing(recipe, _made_of(tmp_path, packages=_root(make_archive, tmp_path)))
    assert files["etc/motd"] == "-rw-r--r-- recipe's"
    assert files["etc/issue"] == "-rw-r--r-- folder's"
    assert files["usr/bin/ls"].endswith("package's ls"), "busybox gives way"
    assert files["usr/bin/cat"] == "lrwxrwxrwx busybox" and files["bin"] == "lrwxrwxrwx usr/bin"
    assert files["usr/sbin/bootlab-mark"] == "-rwxr-xr-x mark"
    assert files["usr/sbin/init"] == "lrwxrwxrwx /init" and files["init"] == "-rwxr-xr-x recipe's"
    assert files["tmp"].startswith("drwxrwxrwt") and files["dev/console"].startswith("crw-------")


def test_an_initramfs_has_no_sbin_init_and_a_root_file_system_has(tmp_path: Path) -> None:
    (tmp_path / "init").write_text("#!/bin/sh\n")
    assert "sbin/init" not in _listing(Initramfs(init=tmp_path / "init"), _made_of(tmp_path, part="initramfs"))
    assert "sbin/init" in _listing(Rootfs(init=tmp_path / "init"), _made_of(tmp_path))


def test_a_directory_keeps_modes_links_and_special_files_and_loses_owner_and_times(tmp_path: Path) -> None:
    folder = tmp_path / "root"
    (folder / "opt").mkdir(parents=True)
    (folder / "opt/tool").write_text("tool")
    (folder / "opt/tool").chmod(0o4711)
    os.link(folder / "opt/tool", folder / "opt/again")
    (folder / "opt/soft").symlink_to("/nowhere at all")
    os.mkfifo(folder / "opt/pipe", 0o600)
    (folder / "opt").chmod(0o700)
    entries = {entry.path: entry for entry in collect(Rootfs(directory=folder, busybox=False), _made_of(tmp_path))}
    assert stat.filemode(entries["opt/tool"].mode) == "-rws--x--x"
    assert entries["opt/tool"].linked == entries["opt/again"].linked != ""
    assert entries["opt/soft"].data == b"/nowhere at all" and entries["opt/soft"].mode == stat.S_IFLNK | 0o777
    assert stat.filemode(entries["opt/pipe"].mode) == "prw-------"
    assert stat.filemode(entries["opt"].mode) == "drwx------"
    assert {entry.owner for entry in entries.values()} == {(0, 0)}
    assert str(tmp_path) not in cpio.write(entries.values()).decode(errors="replace")


def test_a_checkout_made_for_a_group_to_write_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "root"
    (folder / "etc").mkdir(parents=True)
    (folder / "tmp").mkdir()
    (folder / "etc/passwd").write_text("")
    (folder / "etc/mtab").symlink_to("/proc/mounts")
    for name, mode in (("etc", 0o755), ("tmp", 0o1777), ("etc/passwd", 0o644)):
        (folder / name).chmod(mode)
    told: list[str] = []
    recipe = Rootfs(directory=folder, busybox=False)
    collect(recipe, _made_of(tmp_path), told.append)
    assert told == [], "a sticky /tmp is everybody's, and a link's mode nobody's"
    (folder / "etc").chmod(0o775)
    (folder / "etc/passwd").chmod(0o664)
    collect(recipe, _made_of(tmp_path), told.append)
    assert len(told) == 1 and "may write 2 files and folders in the image, etc the first" in told[0]


def test_without_leaves_out_at_last_and_tells_of_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "init").write_text("#!/bin/sh\n")
    recipe = Rootfs(
        init=tmp_path / "init", files={"/srv/a/b": tmp_path / "init"}, without=("/srv/a", "bin/cat", "/usr/share/doc")
    )
    told: list[str] = []
    names = {entry.path for entry in collect(recipe, _made_of(tmp_path), told.append)}
    assert "srv" in names and not {"srv/a", "srv/a/b", "bin/cat"} & names
    assert told == ["rootfs.without: /usr/share/doc is not there"]


def test_what_is_left_to_the_disk_is_told_by_its_own_key_and_may_be_the_init(tmp_path: Path) -> None:
    (tmp_path / "init").write_text("#!/bin/sh\n")
    region = KeptRam(size_mib=2, without=("/init", "/gone"))
    recipe = Rootfs(init=tmp_path / "init", device="kept-ram", kept_ram=region)
    told: list[str] = []
    assert "init" not in {entry.path for entry in collect(recipe.kept_files, _made_of(tmp_path), told.append)}
    assert told == ["rootfs.kept_ram.without: /gone is not there"]
    assert "init" in {entry.path for entry in collect(recipe, _made_of(tmp_path), told.append)}


def test_what_cannot_be_had_is_told_by_key(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for recipe, why in (
        (Rootfs(directory=tmp_path / "gone"), r"^rootfs\.directory: .*gone: No such file"),
        (Rootfs(directory=tmp_path, modules=("ext4",)), r"^rootfs\.modules: the kernel is an image by path"),
        (Rootfs(directory=tmp_path, files={"/x/../..": tmp_path / "file"}), "not a path inside"),
        (Rootfs(files={"/sbin/bootlab-mark": tmp_path / "file"}), "the recipe puts its own file there"),
    ):
        with pytest.raises(InputError, match=why):
            collect(recipe, _made_of(tmp_path))
            identify_content(recipe, _made_of(tmp_path))


def test_the_identity_holds_content_and_no_path(kernel_package: MakePackage, tmp_path: Path) -> None:
    texts = []
    for place in ("here", "there"):
        folder = tmp_path / place
        (folder / "root/etc").mkdir(parents=True)
        (folder / "root/etc/motd").write_text("hello")
        (folder / "init").write_text("#!/bin/sh\n")
        recipe = Rootfs(
            directory=folder / "root", init=folder / "init", files={"/a": folder / "init"}, modules=("xor",)
        )
        texts.append(identify_content(recipe, _made_of(folder, kernel_tree=kernel_package(folder / "tree"))))
    assert texts[0] == texts[1]
    assert str(tmp_path) not in texts[0]


def test_every_change_of_content_is_another_identity(tmp_path: Path) -> None:
    folder = tmp_path / "root"
    folder.mkdir()
    seen = set()

    def look(**changes: object) -> None:
        seen.add(identify_content(Rootfs.model_validate({"directory": folder, **changes}), _made_of(tmp_path)))

    look()
    (folder / "file").write_text("one")
    look()
    (folder / "file").write_text("two")
    look()
    (folder / "file").chmod(0o600)
    look()
    os.link(folder / "file", folder / "name")
    look()
    look(busybox=False)
    look(without=["/file"])
    look(files={"/other": folder / "file"})
    assert len(seen) == 8
    os.utime(folder / "file", (1, 1))
    look(files={"/other": folder / "file"})
    assert len(seen) == 8, "a time is no content"


def test_modules_from_a_cache_count_by_their_entry_wherever_the_cache_lies(
    kernel_package: MakePackage, tmp_path: Path
) -> None:
    recipe = Initramfs(directory=tmp_path / "empty", modules=("xor",))
    (tmp_path / "empty").mkdir()
    texts = set()
    for place in ("mine", "yours"):
        entry = tmp_path / place / "kernel" / ("0" * 63 + "a")
        texts.add(identify_content(recipe, _made_of(tmp_path, kernel_tree=kernel_package(entry / "modules"))))
        for path in entry.rglob("*.ko"):
            os.utime(path, (1, 1))
    assert len(texts) == 1
