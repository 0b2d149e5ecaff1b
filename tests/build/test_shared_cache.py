"""One cache for several users, wherever each sees it: what one has made the others take, even if they cannot write."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.debian import packages
from bootlab.build.debian.root import fetch_root
from bootlab.build.root import initramfs, rootfs
from bootlab.build.root.content import Ingredients
from bootlab.build.workshop import Workshop
from bootlab.errors import StoreError
from bootlab.system import Initramfs, Rootfs
from tests.build.conftest import LocalArchive
from tests.build.kernel import test_build as test_kernel_build

_NOBODY = 65534
_LOOK = ("/usr/sbin", "/sbin", "/usr/bin", "/bin")

pytestmark = [
    pytest.mark.skipif(
        shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None, reason="needs apt and dpkg"
    ),
    pytest.mark.skipif(shutil.which("debugfs", path=":".join(_LOOK)) is None, reason="needs e2fsprogs"),
]


@pytest.fixture
def share() -> Iterator[Path]:
    """A folder that every user may enter."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def _make_all(root: Path, local: LocalArchive, tell: Callable[[str], None]) -> list[str]:
    """Make one of everything in the cache at `root`; return the entries' names below it."""
    cache = Cache(root)
    package = packages.fetch(Workshop(cache, apt=local.apt, tell=tell), "tool", "bookworm", "x86_64")
    root_of = fetch_root(
        Workshop(cache, apt=local.apt, tell=tell), ["tool"], "bookworm", "x86_64", key="rootfs.packages"
    )
    archive = Initramfs(packages=("tool",), busybox=False)
    image = Rootfs(packages=("tool",), busybox=False, modules=())
    made = [
        package.tree,
        initramfs.build(Workshop(cache, tell=tell), archive, Ingredients("initramfs", "x86_64", packages=root_of)),
        rootfs.build(Workshop(cache, tell=tell), image, Ingredients("rootfs", "x86_64", packages=root_of)),
    ]
    return [str(path.relative_to(root)) for path in made]


@pytest.fixture
def local(make_archive: Callable[[], LocalArchive]) -> LocalArchive:
    archive = make_archive()
    archive.add("tool", "1.0", {"usr/bin/tool": "tool"})
    archive.publish()
    return archive


def test_a_cache_that_is_moved_or_copied_serves_from_its_new_place(local: LocalArchive, share: Path) -> None:
    told: list[str] = []
    first = _make_all(share / "first", local, told.append)
    assert told != []
    shutil.copytree(share / "first", share / "mnt/some/where else")  # as a plain copy: every time is another
    shutil.rmtree(share / "first")
    shutil.rmtree(local.root)
    told.clear()
    assert _make_all(share / "mnt/some/where else", local, told.append) == first
    assert told == []


def _become_another(cache: Path) -> None:
    """Be a user who may read the cache only: another one where that can be, else this one with the folders closed."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)
    else:
        for folder, _, _ in os.walk(cache):
            Path(folder).chmod(0o555)


def _as_another(cache: Path, do: Callable[[], None]) -> None:
    """Do it as that user, in a process of its own; what it raises fails the test."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _become_another(cache)
            do()
            code = 0
        except BaseException as error:
            print(repr(error), file=sys.stderr)
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    for folder, _, _ in os.walk(cache):
        Path(folder).chmod(0o755)
    assert os.waitstatus_to_exitcode(status) == 0


def test_another_user_takes_what_is_there_and_is_told_of_what_cannot_be_added(local: LocalArchive, share: Path) -> None:
    first = _make_all(share / "cache", local, lambda line: None)

    def take() -> None:
        told: list[str] = []
        assert _make_all(share / "cache", local, told.append) == first, told
        assert told == []
        with pytest.raises(StoreError, match="Permission denied while"):
            Cache(share / "cache").make("thing", "key", lambda path: None)

    _as_another(share / "cache", take)


@test_kernel_build.needs_tools
def test_another_user_takes_a_kernel_of_a_tree_that_only_that_user_has(share: Path) -> None:
    cache = Cache(share / "cache")
    first = test_kernel_build.build(test_kernel_build.make_tree(share / "linux"), cache)
    copy = test_kernel_build.make_tree(share / "another/linux")

    def take() -> None:
        second = test_kernel_build.build(copy, cache)
        assert (second.from_cache, second.image) == (True, first.image)

    _as_another(share / "cache", take)
