"""Workers on hosts of their own: network namespaces, reached over TLS, which see none of the client's caches and runs.

Their programs are this host's, and a third one has another QEMU; or each is a Debian of its own, 12 or 13.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.cluster.roster import SUMMARY
from bootlab.measure.prepare import prepare
from bootlab.system import read_system
from bootlab.system.text import system_text
from tests.boot.verbs.test_cluster import DEMO, ROOT, TINY, bootlab, lean
from tests.cluster.running_cluster import RunningCluster
from tests.cluster.test_connection import certificate
from tests.namespaces import ip, require_namespaces

pytestmark = pytest.mark.boot

NETWORK = "10.99.8."
PRIVATE = ("unshare", "--mount", "--propagation", "private")
HIDE = 'for folder in $HIDDEN; do mount -t tmpfs none "$folder"; done; exec "$@"'
ENTER = """set -e
hostname "$NAME"
mount -t overlay overlay -o "lowerdir=$LOWER,upperdir=$OWN/upper,workdir=$OWN/work" "$OWN/root"
mount -t proc proc "$OWN/root/proc"
mount --rbind /dev "$OWN/root/dev"
mount --rbind /sys "$OWN/root/sys"
for folder in $SHARED; do mkdir -p "$OWN/root$folder"; mount --bind "$folder" "$OWN/root$folder"; done
exec chroot "$OWN/root" env --chdir=/bootlab HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
"""
"""Runs a program in a Debian that is this one's alone, of whatever of this host's folders it is to see."""
PYTHON = "/bootlab/.venv/bin/python"


class Hosts:
    """Hosts on one network, whose first address is this host's."""

    def __init__(self, number: int) -> None:
        self._mark = os.getpid() % 100000
        self._bridge = f"bb{self._mark}"
        self._names = [f"blc{self._mark}-{index}" for index in range(number)]
        ip("link", "add", self._bridge, "type", "bridge")
        ip("addr", "add", f"{NETWORK}1/24", "dev", self._bridge)
        ip("link", "set", self._bridge, "up")
        for index, name in enumerate(self._names):
            here, there = f"bc{self._mark}x{index}", f"bd{self._mark}x{index}"
            ip("netns", "add", name)
            ip("link", "add", here, "type", "veth", "peer", "name", there, "netns", name)
            ip("link", "set", here, "master", self._bridge, "up")
            ip("-n", name, "addr", "add", f"{self.address(index)}/24", "dev", there)
            ip("-n", name, "link", "set", there, "up")
            ip("-n", name, "link", "set", "lo", "up")

    def address(self, index: int) -> str:
        return f"{NETWORK}{index + 2}"

    def inside(self, index: int, *hidden: Path) -> list[str]:
        """Return the command that runs another one on a host, on which these folders are empty."""
        words = [*self.at(index), *PRIVATE, "--", "env", f"HIDDEN={' '.join(map(str, hidden))}"]
        return [*words, "sh", "-c", HIDE, "sh"]

    def at(self, index: int) -> list[str]:
        """Return the command that runs another one on the network of a host."""
        return ["ip", "netns", "exec", self._names[index]]

    def end(self) -> None:
        for name in self._names:
            with suppress(CalledProcessError):
                ip("netns", "del", name)
        with suppress(CalledProcessError):
            ip("link", "del", self._bridge)


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    require_namespaces()
    made = Hosts(3)
    yield made
    made.end()


def test_a_trial_on_two_hosts_over_tls_says_the_same_and_a_third_with_another_qemu_is_kept_apart(
    hosts: Hosts, tmp_path: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    cert, key = certificate(tmp_path / "tls")
    for name, value in (("CA_FILE", cert), ("CLIENT__CERT", cert), ("CLIENT__KEY", key)):
        monkeypatch.setenv(f"DASK_DISTRIBUTED__COMM__TLS__{name}", str(value))
    words = ["try", str(TINY / "tiny.toml"), "cmdline_quiet", "cmdline_rcu_expedited", "--no-stack", "--nulls", "3"]
    here = bootlab(*words, runs=tmp_path / "here")
    (runs := tmp_path / "there").mkdir()
    other = tmp_path / "other-qemu"
    other.mkdir()
    qemu = shutil.which("qemu-system-x86_64")
    assert qemu is not None
    shutil.copy(qemu, other)
    with (other / "qemu-system-x86_64").open("ab") as program:
        program.write(b"\0")
    with RunningCluster(tmp_path, workers=0, certificate=(cert, key), host=f"{NETWORK}1") as cluster:
        for index, env in enumerate(({}, {}, {"PATH": f"{other}:{os.environ['PATH']}"})):
            hidden = hosts.inside(index, cache.root, runs)
            cluster.add_worker(f"host{index}", env, host=hosts.address(index), inside=hidden)
        cluster.wait_for(3)
        there = bootlab(*words, "--cluster", cluster.address, runs=runs)
    assert lean(there) == lean(here)
    (summary,) = runs.glob(f"*/{SUMMARY}")
    workers = {one["address"].rpartition(":")[0]: one for one in json.loads(summary.read_text())["workers"]}
    found = [workers[f"tls://{hosts.address(index)}"] for index in range(3)]
    assert [one["boots"] > 0 for one in found] == [True, True, False]
    assert "another qemu, " in found[2]["left_out"]
    for index in range(2):
        sent = tmp_path / "cluster" / f"host{index}" / "cache" / "cluster-input"
        assert any(path.stat().st_size > 1_000_000 for path in sent.rglob("*")), "its kernel came over the network"


@pytest.fixture(scope="module")
def debians() -> Iterator[dict[int, Path]]:
    """A Debian 12 and a Debian 13, made now, each with this tree set up in it; 3 GB each."""
    require_namespaces()
    made: dict[int, Path] = {}
    try:
        for release in (12, 13):
            done = subprocess.run(
                [ROOT / "scripts/clean-root", "--worktree", "--keep", str(release), "setup-dev"],
                capture_output=True,
                text=True,
                check=False,
            )
            kept = re.search("^clean-root: kept: (.+)$", done.stdout, re.MULTILINE)
            if kept is not None:
                made[release] = Path(kept[1])
            assert done.returncode == 0, done.stdout + done.stderr
        yield made
    finally:
        for root in made.values():
            shutil.rmtree(root)


def entering(debian: Path, own: Path, name: str, *shared: Path) -> list[str]:
    """Return the command that runs another one in a Debian, on a host of this name.

    `own`: a folder for what it writes; `shared`: folders of this host that it sees as well.
    """
    for part in ("upper", "work", "root"):
        (own / part).mkdir(parents=True, exist_ok=True)
    said = {"NAME": name, "LOWER": debian, "OWN": own, "SHARED": " ".join(map(str, shared))}
    words = [*PRIVATE, "--uts", "--pid", "--fork", "--kill-child", "--", "env"]
    return [*words, *(f"{key}={value}" for key, value in said.items()), "sh", "-c", ENTER, "sh"]


def finished(cache: Cache, folder: Path) -> Path:
    """Return the tiny system with its kernel and initramfs as they are: no client builds its own."""
    system = read_system(TINY / "tiny.toml")
    files = prepare(Workshop(cache), system).files
    named = {"kernel": files.kernel, "initramfs": files.initramfs, "symbols": files.symbols or files.vmlinux}
    for name, path in named.items():
        assert path is not None
        shutil.copy(path, folder / name)
    system = system.with_part("kernel", build=None, image=folder / "kernel", symbols=folder / "symbols")
    system = system.with_part("initramfs", init=None, busybox=False, path=folder / "initramfs")
    (folder / "tiny.toml").write_text(system_text(system))
    return folder / "tiny.toml"


def spread(runs: Path) -> dict[str, tuple[int, str | None]]:
    """Return what the workers of a run did, by the names of their hosts: their boots, and why they were left out."""
    (summary,) = runs.glob(f"*/{SUMMARY}")
    workers: list[dict[str, Any]] = json.loads(summary.read_text())["workers"]
    return {one["host"]: (one["boots"], one["left_out"]) for one in workers}


@dataclass(frozen=True, slots=True)
class DebianCluster:
    """A scheduler on this host, and over TLS a worker in a clean Debian of each of some releases."""

    cluster: RunningCluster
    env: dict[str, str]
    """What a client is to be told."""
    shared: tuple[Path, ...]
    """Folders of this host that a client sees."""


@contextmanager
def workers_in(
    hosts: Hosts, debians: dict[int, Path], releases: Sequence[int], folder: Path, cache: Cache
) -> Iterator[DebianCluster]:
    cert, key = certificate(folder / "tls")
    tls = {"CA_FILE": cert, "CLIENT__CERT": cert, "CLIENT__KEY": key}
    env = {f"DASK_DISTRIBUTED__COMM__TLS__{name}": str(path) for name, path in tls.items()}
    env["BOOTLAB_CACHE"] = str(cache.root)
    with RunningCluster(folder, workers=0, certificate=(cert, key), host=f"{NETWORK}1") as cluster:
        for index, release in enumerate(releases):
            name = f"debian{release}-{index}"
            inside = entering(debians[release], folder / name, name, cluster.folder, cert.parent)
            cluster.add_worker(name, host=hosts.address(index), inside=[*hosts.at(index), *inside], python=PYTHON)
        cluster.wait_for(len(releases))
        yield DebianCluster(cluster, env, (cache.root, cert.parent))


@pytest.mark.network
def test_workers_of_debian_12_and_13_are_kept_apart_and_each_kind_says_the_same_as_its_client(
    hosts: Hosts, debians: dict[int, Path], tmp_path: Path, cache: Cache
) -> None:
    """Two workers are in clean Debian 12 roots, one in a Debian 13; the client is in a root of each kind in turn."""
    (runs := tmp_path / "runs").mkdir()
    words = ["measure", str(finished(cache, runs)), "-n", "4"]
    with workers_in(hosts, debians, (12, 12, 13), tmp_path, cache) as there_is:
        for release in debians:
            python = (
                *entering(debians[release], tmp_path / f"client{release}", "client", runs, *there_is.shared),
                PYTHON,
            )
            here = bootlab(*words, runs=runs / f"here{release}", python=python, env=there_is.env)
            asked = [*words, "--cluster", there_is.cluster.address]
            there = bootlab(*asked, runs=runs / f"there{release}", python=python, env=there_is.env)
            assert lean(there) == lean(here)
    for release in debians:
        workers = spread(runs / f"there{release}")
        assert sorted(workers) == ["debian12-0", "debian12-1", "debian13-2"]
        for name, (boots, left_out) in workers.items():
            if name.startswith(f"debian{release}"):
                assert boots > 0 and left_out is None
            else:
                assert boots == 0 and left_out is not None and "another qemu, " in left_out


@pytest.mark.network
def test_the_demo_says_the_same_on_two_clean_debian_12_over_tls_to_the_last_digit(
    hosts: Hosts, debians: dict[int, Path], tmp_path: Path, cache: Cache
) -> None:
    """Neither worker has seen this tree's runs or caches: kernel, initramfs and disk come to it over the network."""
    (runs := tmp_path / "runs").mkdir()
    with workers_in(hosts, debians, (12, 12), tmp_path, cache) as there_is:
        python = (*entering(debians[12], tmp_path / "client", "client", runs, *there_is.shared), PYTHON)
        words = ["try", "/bootlab/examples/debian-cloud.toml", *DEMO[2:]]
        here = bootlab(*words, runs=runs / "here", python=python, env=there_is.env)
        asked = [*words, "--cluster", there_is.cluster.address]
        there = bootlab(*asked, runs=runs / "there", python=python, env=there_is.env)
    assert lean(there) == lean(here)
    assert len(here["alone"]) == 5 and len(here["stack"]) > 1
    workers = spread(runs / "there")
    print(f"\nboots of each worker: {workers}; ready: {here['baseline']['ready_ns']} ns")
    assert sorted(workers) == ["debian12-0", "debian12-1"]
    assert all(boots > 0 and left_out is None for boots, left_out in workers.values())
