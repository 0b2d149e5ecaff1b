"""Kernels compiled by workers: a source of one file, really compiled by make and gcc, each host with its own cache.

What a real kernel does there is in tests/boot/verbs/test_cluster.py.
"""

import os
import signal
import subprocess
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import psutil
import pytest

from bootlab.build.cache import Cache, file_sha256
from bootlab.build.kernel.build import BuiltKernel, build_kernel
from bootlab.build.source.config_text import INITRAMFS_FILE
from bootlab.build.source.make import BuildFailed
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.experiments.making import Making
from bootlab.system import KernelBuild
from tests.build.kernel.test_build import FILES, make_tree, needs_tools
from tests.cluster.running_cluster import RunningCluster, opened

pytestmark = needs_tools
SLOWLY = "\t@for i in $$(seq {files}); do echo '  CC      init/more.o'; sleep 0.1; done\n"
"""Part of a recipe that says now and then that it goes on."""
COMPILES = "\t$(CC) $(KCFLAGS) -g -c init/main.c -o $@\n"


def tarball(folder: Path, name: str = "linux", change: Callable[[Path], object] = lambda tree: None) -> Path:
    """Return the source as a tarball, changed before it was packed."""
    tree = make_tree(folder / name)
    change(tree)
    packed = folder / f"{name}.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(tree, name)
    return packed


def counted(into: Path, files: int) -> Callable[[Path], object]:
    """Return what makes a source take `files` tenths of a second, and count in `into` how often it is compiled."""

    def change(tree: Path) -> None:
        makefile = tree / "Makefile"
        more = f"\techo compiled >>{into}\n" + SLOWLY.format(files=files)
        makefile.write_text(FILES["Makefile"].replace(COMPILES, more + COMPILES))

    return change


def compiled(
    cluster: RunningCluster, folder: Path, source: Path, told: list[str], tell: Callable[[str], None] | None = None
) -> BuiltKernel:
    """Return the kernel of a source as a client gets it whose cache is in `folder`."""
    with opened(cluster, folder / "cache", told) as place:
        shop = place.furnish(Workshop(Cache(folder / "cache"), tell=tell or told.append))
        return build_kernel(shop, KernelBuild(source=source, base="tinyconfig"), "x86_64")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningCluster]:
    """Two workers that nobody kills."""
    with RunningCluster(tmp_path_factory.mktemp("shared")) as running_one:
        running_one.wait_for(2)
        yield running_one


def kernels_there(cluster: RunningCluster) -> int:
    return len([path for path in cluster.folder.glob("*/cache/kernel/*") if path.is_dir()])


def test_a_worker_compiles_and_the_kernel_is_that_of_this_host(cluster: RunningCluster, tmp_path: Path) -> None:
    source, told = tarball(tmp_path), list[str]()
    there = compiled(cluster, tmp_path / "client", source, told)
    here = build_kernel(Workshop(Cache(tmp_path / "here")), KernelBuild(source=source, base="tinyconfig"), "x86_64")
    assert there.image.is_relative_to(tmp_path / "client") and not there.from_cache
    for one, other in zip(*(sorted(entry.image.parent.rglob("*")) for entry in (there, here)), strict=True):
        assert one.name == other.name
        # A log and a time are those of the build.
        if one.is_file() and one.name not in ("build.log", "build.json"):
            assert file_sha256(one) == file_sha256(other), one.name
    (worker,) = {line.split(": ")[0] for line in told if ": building Linux 6.12.0 for x86_64, " in line}
    assert worker.startswith("worker tcp://127.0.0.1:")
    assert any(line.startswith(f"{worker}: gets the source") for line in told)
    assert kernels_there(cluster) == 1

    again = list[str]()
    other_client = compiled(cluster, tmp_path / "other", source, again)
    assert other_client.from_cache and file_sha256(other_client.image) == file_sha256(there.image)
    assert not any("building Linux" in line or "gets the source" in line for line in again), again
    assert kernels_there(cluster) == 1


def test_two_clients_that_want_one_kernel_wait_for_one_build(cluster: RunningCluster, tmp_path: Path) -> None:
    source, told = tarball(tmp_path, change=counted(tmp_path / "count", 40)), (list[str](), list[str]())
    with ThreadPoolExecutor() as pool:
        both = [
            pool.submit(compiled, cluster, tmp_path / f"client-{index}", source, lines)
            for index, lines in enumerate(told)
        ]
        first, second = (one.result() for one in both)
    assert file_sha256(first.image) == file_sha256(second.image) and first.image != second.image
    assert (tmp_path / "count").read_text() == "compiled\n"


@pytest.fixture
def two_hosts(tmp_path: Path) -> Iterator[RunningCluster]:
    """Two workers that have host names of their own."""
    named = ["unshare", "--uts", "--", "sh", "-c", 'hostname "$0"; exec "$@"']
    if subprocess.run([*named, "node", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("needs root: host names")
    with RunningCluster(tmp_path, workers=0) as running_one:
        for name in ("node1", "node2"):
            running_one.add_worker(name, inside=[*named, name])
        running_one.wait_for(2)
        yield running_one


LASTS = "\techo begin $$(hostname) >>{log}; sleep 2; echo end $$(hostname) >>{log}\n"


def test_kernels_that_are_wanted_at_once_are_compiled_at_once_one_a_host(
    two_hosts: RunningCluster, tmp_path: Path
) -> None:
    """Five are asked for, two of which are one; the one that cannot be had costs the others nothing."""
    log = tmp_path / "log"

    def lasts(tree: Path) -> None:
        (tree / "Makefile").write_text(FILES["Makefile"].replace(COMPILES, LASTS.format(log=log) + COMPILES))

    source, told = tarball(tmp_path, change=lasts), list[str]()
    asked = [{}, {"SMP": "y"}, {"LOST": "y"}, {"KERNEL_GZIP": "n"}, {"SMP": "y", "NUMA": "y"}, {"SMP": "y"}]
    with opened(two_hosts, tmp_path / "cache", told) as place:
        making = Making(place.furnish(Workshop(Cache(tmp_path / "cache"), tell=told.append)))

        def make(options: dict[str, str]) -> BuiltKernel | str:
            build = KernelBuild(source=source, base="tinyconfig", options=options)
            with making.turn():
                try:
                    return build_kernel(making.shop, build, "x86_64")
                except InputError as error:
                    return error.message

        made = making.each([partial(make, options) for options in asked])
    assert isinstance(made[2], str) and "LOST" in made[2]
    kernels = [one for one in made if isinstance(one, BuiltKernel)]
    assert [one.options.get("SMP") for one in kernels] == [None, "y", None, "y", "y"]
    assert sorted(one.from_cache for one in kernels) == [False, False, False, False, True]
    events = [line.split() for line in log.read_text().splitlines()]
    compiling, most = list[str](), 0
    for event, host in events:
        if event == "begin":
            assert host not in compiling
            compiling.append(host)
        else:
            compiling.remove(host)
        most = max(most, len(compiling))
    assert most == 2 and len(events) == 8
    assert {host for _, host in events} == {"node1", "node2"}


def test_an_archive_goes_into_the_kernel(
    cluster: RunningCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the client's files a worker sees nothing here: below /proc/self/cwd each process has another folder."""

    def with_archive(tree: Path) -> None:
        (tree / "Kconfig").write_text(
            FILES["Kconfig"]
            + 'config INITRAMFS_SOURCE\n\tstring "archive"\nconfig INITRAMFS_COMPRESSION_NONE\n\tbool "as it is"\n'
        )
        take = f"\tcat $@ $(O)/{INITRAMFS_FILE} >$(boot)/bzImage\n"
        linked = "$(O)/vmlinux: $(O)/init/main.o"
        recipes = FILES["Makefile"].replace(linked, f"{linked} $(O)/{INITRAMFS_FILE}")
        (tree / "Makefile").write_text(recipes.replace("\tcp $@ $(boot)/bzImage\n", take))

    source, told = tarball(tmp_path, change=with_archive), list[str]()
    (tmp_path / "archive").write_bytes(b"all of an archive")
    monkeypatch.chdir(tmp_path)
    seen = Path("/proc/self/cwd")
    with opened(cluster, seen / "cache", told) as place:
        shop = place.furnish(Workshop(Cache(tmp_path / "cache"), tell=told.append))
        build = KernelBuild(source=source, base="tinyconfig")
        kernel = build_kernel(shop, build, "x86_64", initramfs=seen / "archive")
        assert kernel.image.read_bytes().endswith(b"all of an archive")
        (tmp_path / "archive").write_bytes(b"another one")
        other = build_kernel(shop, build, "x86_64", initramfs=seen / "archive")
        assert other.image.read_bytes().endswith(b"another one")
    assert sum("building Linux" in line for line in told) == 2, told


def test_what_does_not_compile_is_told_as_on_this_host(cluster: RunningCluster, tmp_path: Path) -> None:
    source = tarball(tmp_path, change=lambda tree: (tree / "init/value.h").write_text("#error no value\n"))
    with pytest.raises(BuildFailed, match="error: #error no value") as raised:
        compiled(cluster, tmp_path / "client", source, [])
    lines = raised.value.message.splitlines()
    assert lines[-1].startswith("  it was compiled on worker tcp://127.0.0.1:")
    (log,) = (line.removeprefix("  the whole log: ") for line in lines if " log: " in line)
    assert Path(log).is_relative_to(tmp_path / "client") and "#error no value" in Path(log).read_text()


def test_a_lost_workers_kernel_is_compiled_elsewhere(tmp_path: Path) -> None:
    source, told, begun = tarball(tmp_path, change=counted(tmp_path / "count", 60)), list[str](), threading.Event()
    with RunningCluster(tmp_path, workers=0) as cluster:
        workers = {name: cluster.add_worker(name) for name in ("one", "two")}
        cluster.wait_for(2)

        def tell(line: str) -> None:
            told.append(line)
            if "building Linux" in line and not begun.is_set():
                begun.set()
                while not (tmp_path / "count").exists():
                    time.sleep(0.05)
                (at_work,) = (name for name in workers if (cluster.folder / name / "cache/kernel-objects").exists())
                cluster.kill(workers[at_work])

        kernel = compiled(cluster, tmp_path / "client", source, told, tell)
    assert kernel.image.is_file() and (tmp_path / "count").read_text() == "compiled\n" * 2
    assert sum("building Linux" in line for line in told) == 2, told
    assert any(line.startswith("lost: worker") for line in told), told


def test_a_worker_without_a_compiler_compiles_nothing_and_this_host_does(tmp_path: Path) -> None:
    source, told = tarball(tmp_path), list[str]()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/setpriv").symlink_to("/usr/bin/setpriv")
    with RunningCluster(tmp_path, workers=0) as cluster:
        cluster.add_worker("bare", {"PATH": str(tmp_path / "bin")})
        cluster.wait_for(1)
        kernel = compiled(cluster, tmp_path / "client", source, told)
        assert not (cluster.folder / "bare/cache/kernel").exists()
    assert kernel.image.is_file()
    assert any(line.startswith("compiles nothing: worker") and "lacks make, gcc" in line for line in told), told
    assert any(line.endswith("; kernels are compiled on this host") for line in told), told


def test_a_tree_in_place_is_compiled_where_it_is(cluster: RunningCluster, tmp_path: Path) -> None:
    told, before = list[str](), kernels_there(cluster)
    kernel = compiled(cluster, tmp_path / "client", make_tree(tmp_path / "linux"), told)
    assert kernel.image.is_file() and kernels_there(cluster) == before
    assert f"{tmp_path}/linux: a tree in place, so its kernels are compiled on this host" in told


def test_ctrl_c_ends_make_on_the_worker(cluster: RunningCluster, tmp_path: Path) -> None:
    source, told = tarball(tmp_path, change=counted(tmp_path / "count", 600)), list[str]()

    def tell(line: str) -> None:
        told.append(line)
        if "building Linux" in line:
            os.kill(os.getpid(), signal.SIGINT)

    assert threading.current_thread() is threading.main_thread()
    with pytest.raises(KeyboardInterrupt):
        compiled(cluster, tmp_path / "client", source, told, tell)
    until = time.monotonic() + 30
    while any(_runs_make(process, cluster) for process in psutil.process_iter(["name", "cmdline"])):
        assert time.monotonic() < until
        time.sleep(0.1)


def _runs_make(process: psutil.Process, cluster: RunningCluster) -> bool:
    return process.info["name"] == "make" and str(cluster.folder) in " ".join(process.info["cmdline"] or [])


def test_ctrl_c_ends_every_make_of_kernels_that_are_compiled_at_once(two_hosts: RunningCluster, tmp_path: Path) -> None:
    source, told = tarball(tmp_path, change=counted(tmp_path / "count", 600)), list[str]()

    def tell(line: str) -> None:
        told.append(line)
        if len([one for one in told if "building Linux" in one]) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    with opened(two_hosts, tmp_path / "cache", told) as place:
        making = Making(place.furnish(Workshop(Cache(tmp_path / "cache"), tell=tell)))

        def make(options: dict[str, str]) -> BuiltKernel:
            with making.turn():
                return build_kernel(
                    making.shop, KernelBuild(source=source, base="tinyconfig", options=options), "x86_64"
                )

        with pytest.raises(KeyboardInterrupt):
            making.each([partial(make, options) for options in ({}, {"SMP": "y"}, {"KERNEL_GZIP": "n"})])
    until = time.monotonic() + 30
    while any(_runs_make(process, two_hosts) for process in psutil.process_iter(["name", "cmdline"])):
        assert time.monotonic() < until
        time.sleep(0.1)
    assert len([one for one in told if "building Linux" in one]) == 2
