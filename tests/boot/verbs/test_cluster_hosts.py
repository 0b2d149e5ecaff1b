"""Workers on hosts of their own: network namespaces, reached over TLS, which see none of the client's caches and runs.

Their programs are this host's, for only what is the same may boot; a third one has another QEMU.
"""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from subprocess import CalledProcessError

import pytest

from bootlab.build.cache import Cache
from bootlab.cluster.roster import SUMMARY
from tests.boot.verbs.test_cluster import TINY, bootlab, lean
from tests.cluster.running_cluster import RunningCluster
from tests.cluster.test_connection import certificate
from tests.namespaces import ip, require_namespaces

pytestmark = pytest.mark.boot

NETWORK = "10.99.8."
HIDE = 'for folder in $HIDDEN; do mount -t tmpfs none "$folder"; done; exec "$@"'


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
        words = ["ip", "netns", "exec", self._names[index], "unshare", "--mount", "--propagation", "private", "--"]
        return [*words, "env", f"HIDDEN={' '.join(map(str, hidden))}", "sh", "-c", HIDE, "sh"]

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
