"""Roots that mmdebstrap installs: made once and then kept; what is wrong is said in words. Real ones: tests/boot."""

import io
import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.debian.install import Commands, install_root
from bootlab.build.debian.root import DebianRoot
from bootlab.build.workshop import Workshop
from bootlab.errors import BootlabError, InputError
from tests.build.conftest import LocalArchive

pytestmark = pytest.mark.skipif(shutil.which("apt-get") is None, reason="needs apt and dpkg")

_STATUS = "Package: bash\nStatus: installed\nVersion: 5.2\n\nPackage: base-files\nEssential: yes\nVersion: 12.4\n"


def _mmdebstrap(folder: Path, script: str) -> None:
    # Installing a whole Debian takes minutes and the network, so a program of its name stands in for it here.
    program = folder / "mmdebstrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def _root(local: LocalArchive, names: tuple[str, ...] = ("bash",), *, refresh: bool = False) -> DebianRoot:
    cache = Cache(local.root.parent / "cache")
    key = "rootfs.packages"
    return install_root(Workshop(cache, refresh=refresh, apt=local.apt), names, "bookworm", "x86_64", key=key)


@pytest.fixture
def local(make_archive: Callable[[], LocalArchive], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalArchive:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    with tarfile.open(tmp_path / "root.tar", "w") as archive:
        for name, text in (("./var/lib/dpkg/status", _STATUS), ("./etc/passwd", "root:x:0:0::/root:/bin/sh\n")):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    copy = f'for word; do case $word in *.tar) cp {tmp_path}/root.tar "$word" ;; esac; done'
    _mmdebstrap(tmp_path / "bin", f'echo "$@" >>{tmp_path}/called; {copy}')
    return make_archive()


def test_it_is_installed_once_and_its_packages_are_known(local: LocalArchive, tmp_path: Path) -> None:
    first = _root(local)
    assert [(package.name, package.version) for package in first.packages] == [("bash", "5.2"), ("base-files", "12.4")]
    assert {entry.path for entry in first.entries()} >= {"etc/passwd", "var/lib/dpkg/status"}
    assert _root(local, ("bash", "bash")).identity == first.identity
    (called,) = (tmp_path / "called").read_text().splitlines()
    assert "--include=bash" in called and "--architectures=amd64" in called and "bookworm" in called
    cache = tmp_path / "cache"
    (record,) = (json.loads(path.read_text()) for path in (cache / "roots").iterdir())
    assert first.identity == [record["sha256"]]
    assert list((cache / "installing").iterdir()) == []


def test_commands_are_run_in_it_and_are_part_of_what_it_is(local: LocalArchive, tmp_path: Path) -> None:
    def made(commands: Commands | None) -> DebianRoot:
        cache = Cache(tmp_path / "cache")
        return install_root(
            Workshop(cache, apt=local.apt), ("bash",), "bookworm", "x86_64", key="rootfs.packages", after=commands
        )

    made(None)
    made(Commands(("update-rc.d 'my app' defaults",), tmp_path / "a folder", "sha of it"))
    made(Commands(("update-rc.d 'my app' defaults",), tmp_path / "a folder", "sha of it"))
    made(Commands(("update-rc.d 'my app' defaults",), tmp_path / "a folder", "sha of another"))
    made(Commands(("true",), tmp_path / "a folder", "sha of it"))
    called = (tmp_path / "called").read_text().splitlines()
    assert len(called) == 4
    assert "--customize-hook" not in called[0]
    assert f"--customize-hook=sync-in '{tmp_path}/a folder' /" in called[1]
    copy, command = (called[1].index(word) for word in ("sync-in", "update-rc.d"))
    assert copy < command


def test_a_command_that_fails_is_named(local: LocalArchive, tmp_path: Path) -> None:
    # What mmdebstrap does with a hook: sh runs it, with the root's folder as its first argument.
    hook = 'case $w in --customize-hook=chroot*) sh -c "${w#*=}" sh /nowhere 2>&1 >/dev/null || exit 25 ;; esac'
    hook = f"for w; do {hook}; done"
    _mmdebstrap(tmp_path / "bin", f"chroot() {{ false; }}; {{ {hook}; }} >&2")
    cache, words = Cache(tmp_path / "cache"), Commands(('echo "it\'s" && false',))
    with pytest.raises(BootlabError, match=r"run: failed: echo \"it's\" && false"):
        install_root(
            Workshop(cache, apt=local.apt), ("bash",), "bookworm", "x86_64", key="rootfs.packages", after=words
        )


def test_the_cache_serves_when_the_archive_does_not_answer(local: LocalArchive, tmp_path: Path) -> None:
    first = _root(local)
    _mmdebstrap(tmp_path / "bin", 'echo "E: Failed to fetch http://mirror.invalid" >&2; exit 100')
    assert _root(local, refresh=True).identity == first.identity
    with pytest.raises(BootlabError, match=r"^rootfs\.packages: Debian bookworm \(amd64\): could not be fetched"):
        _root(local, ("dash",))


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        ("E: Unable to locate package nosuch", "Unable to locate package nosuch", 2),
        ("E: unable to pick chroot mode automatically", "mmdebstrap may not make a root here", 3),
        ("E: something else", "mmdebstrap failed", 1),
    ],
)
def test_what_mmdebstrap_says_is_passed_on(
    local: LocalArchive, tmp_path: Path, words: str, message: str, code: int
) -> None:
    _mmdebstrap(tmp_path / "bin", f'echo "{words}" >&2; exit 25')
    with pytest.raises(BootlabError, match=message) as caught:
        _root(local)
    assert caught.value.exit_code == code and caught.value.hint
    assert not (tmp_path / "cache" / "roots").exists()


def test_names_that_cannot_be(local: LocalArchive) -> None:
    with pytest.raises(InputError, match=r'^rootfs\.packages: "a b" is not'):
        _root(local, ("a b",))


def test_waiting_for_another_installation_is_told(tmp_path: Path) -> None:
    class Heard(Exception):
        pass

    def hear(line: str) -> None:
        raise Heard(line)

    cache = Cache(tmp_path)
    shop = Workshop(Cache(tmp_path), tell=hear)
    with cache.lock("installed-bookworm-amd64"), pytest.raises(Heard, match="^waiting for another bootlab, "):
        install_root(shop, ("bash",), "bookworm", "x86_64", key="rootfs.packages")
