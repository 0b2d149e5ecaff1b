"""Firecracker's own jailer on this host, be its KVM too slow for a kernel: the guest has fifty bytes (tiny_guest.py).

As root. BOOTLAB_FIRECRACKER and BOOTLAB_JAILER name the programs (scripts/vmm builds both).
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bootlab.cli.app import run
from bootlab.measure.record import BootRecord, Outcome
from tests.boot.machines.nested_kvm.host_tree import ROOT
from tests.boot.vmms.nested_vmms import FIRECRACKER_PROGRAM, JAILER_PROGRAM
from tests.targets.vmm.made import killed_within
from tests.targets.vmm.tiny_guest import STAY, tiny_kernel

pytestmark = [pytest.mark.boot, pytest.mark.kernel]

UID = 54321
TAP, SPACE = "bootlabt", "bootlab-jail"
SYSTEM = """
[target]
kind = "firecracker"
binary = "{binary}"
jailer = "{jailer}"
uid = {uid}
gid = {uid}
chroot_base = "{base}"
probe = false
{target}
[kernel]
image = "stay.elf"
cmdline = ""
[[disks]]
size_mib = 1
{more}
[booted]
mark = "{mark}"
deadline_s = {deadline_s}
"""


class Here:
    """A folder with a system, and the jails of its boots. `programs`: Firecracker and the jailer."""

    def __init__(self, folder: Path, base: Path, programs: tuple[str, str]) -> None:
        self.folder, self.base, self.programs = folder, base, programs
        (folder / "stay.elf").write_bytes(tiny_kernel(STAY))

    def system(self, target: str = "", more: str = "", mark: str = "ready", base: Path | None = None) -> Path:
        path = self.folder / "jailed.toml"
        binary, jailer = self.programs
        path.write_text(
            SYSTEM.format(
                binary=binary, jailer=jailer, uid=UID, base=base or self.base, target=target, more=more, mark=mark,
                deadline_s=20 if mark == "ready" else 60,
            )
        )  # fmt: skip
        return path

    def words(self, verb: str, path: Path, *more: str) -> list[str]:
        return [verb, str(path), *more, "--runs", str(self.folder / "runs"), "--json"]

    def left(self) -> list[str]:
        found = [str(path) for path in self.base.iterdir()]
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if path.stat().st_uid == UID:
                    found.append(path.name)
        return found


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Here]:
    if os.geteuid() != 0:
        pytest.skip("needs root: a jail")
    programs = tuple(shutil.which(one) for one in (FIRECRACKER_PROGRAM, JAILER_PROGRAM))
    if programs[0] is None or programs[1] is None:
        pytest.skip("no Firecracker or jailer here: scripts/vmm builds them")
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        pytest.skip("no KVM here")
    with tempfile.TemporaryDirectory(prefix="jails-", dir="/var/tmp") as base:
        found = Here(tmp_path, Path(base), (programs[0], programs[1]))
        yield found
        assert found.left() == []


def ask(here: Here, capsys: pytest.CaptureFixture[str], verb: str, path: Path, *more: str) -> dict[str, Any]:
    capsys.readouterr()
    run(here.words(verb, path, *more))
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def the_boot(here: Here, capsys: pytest.CaptureFixture[str], *target: str, **more: Any) -> BootRecord:
    return BootRecord.model_validate(ask(here, capsys, "boot", here.system("\n".join(target), **more)))


@pytest.mark.parametrize("target", ["", "api = false"])
def test_it_boots_in_its_jail_and_the_jailer_has_its_own_time(
    here: Here, capsys: pytest.CaptureFixture[str], target: str
) -> None:
    record = the_boot(here, capsys, target)
    assert record.outcome is Outcome.READY and record.vmm is not None, record.detail
    assert record.vmm.launch[0].name == "jailer" and record.vmm.launch[0].duration_ns > 0
    print([(step.name, step.duration_ns / 1e6) for step in record.vmm.launch])
    # Its own figure begins with the jailer, as bootlab's step does.
    if not target:
        assert record.vmm.own["process_startup_time"] > 0


def test_a_machine_is_kept_and_its_clones_have_jails_of_their_own(
    here: Here, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = ask(here, capsys, "snapshot", here.system(more="[snapshot]"), "--at", "ready")
    assert set(kept["bytes"]) == {"ram", "state", "disk0"}
    for pages in ("mapped", "served"):
        path = here.system(f'pages = "{pages}"', "[snapshot]")
        clone = BootRecord.model_validate(ask(here, capsys, "boot", path, "--from", "last"))
        # The guest says nothing more: that it was taken up is all that there is.
        assert clone.vmm is not None, clone.detail
        assert [step.name for step in clone.vmm.launch] == ["jailer", "VMM start", "API", "snapshot load"]


def test_a_cgroup_is_made_for_it_and_removed(here: Here, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row.split() for row in Path("/proc/mounts").read_text().splitlines()]
    first = next((Path(row[1]) for row in rows if row[2] == "cgroup" and "pids" in row[3].split(",")), None)
    second = next((Path(row[1]) for row in rows if row[2] == "cgroup2"), None)
    if first is None and (second is None or "pids" not in (second / "cgroup.controllers").read_text().split()):
        pytest.skip("no cgroups here that count processes")
    version, hierarchy = (1, first) if first is not None else (2, second)
    assert hierarchy is not None
    words = [f"cgroup_version = {version}", 'parent_cgroup = "bootlab-test/inner"']
    record = the_boot(here, capsys, *words, 'cgroups = ["pids.max=64"]')
    assert record.outcome is Outcome.READY, record.detail
    assert not (hierarchy / "bootlab-test").exists()
    record = the_boot(here, capsys, *words, 'cgroups = ["pids.max=1"]')
    assert record.outcome is not Outcome.READY and not (hierarchy / "bootlab-test").exists()
    print(record.detail)


def test_a_storm_of_jails_is_complete(here: Here, capsys: pytest.CaptureFixture[str]) -> None:
    storm = ask(here, capsys, "storm", here.system(), "-n", "6", "--overcommit")
    assert storm["ready"] == 6 and all(one["pss_kib"] > 0 for one in storm["machines"])


@pytest.fixture
def other_space() -> Iterator[None]:
    """Make a network namespace with a tap that the jail's user may use, and one that is root's."""
    if shutil.which("ip") is None:
        pytest.skip("no ip here (iproute2)")
    made = subprocess.run(["ip", "netns", "add", SPACE], capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(f"no network namespaces here: {made.stderr}")
    inside = ["ip", "-n", SPACE, "tuntap", "add"]
    subprocess.run([*inside, f"{TAP}1", "mode", "tap", "user", str(UID)], check=True)
    subprocess.run([*inside, f"{TAP}2", "mode", "tap", "user", "0"], check=True)
    yield
    subprocess.run(["ip", "netns", "del", SPACE], check=True)


@pytest.mark.usefixtures("other_space")
def test_taps_are_those_of_its_namespace(here: Here, capsys: pytest.CaptureFixture[str]) -> None:
    space = f'netns = "/var/run/netns/{SPACE}"'
    record = the_boot(here, capsys, space, f'tap = "{TAP}{{n}}"', more="[network]")
    assert record.outcome is Outcome.READY, record.detail
    for tap, words in ((f"{TAP}2", "Operation not permitted"), (f"{TAP}3", "not permitted")):
        record = the_boot(here, capsys, space, f'tap = "{tap}"', more="[network]")
        assert record.outcome is Outcome.NOT_STARTED and words in record.detail, record.detail
        assert "PUT /network-interfaces/net0: refused (400)" in record.detail and tap in record.detail


def test_one_that_is_killed_in_mid_boot_is_cleared_away(here: Here, capsys: pytest.CaptureFixture[str]) -> None:
    with killed_within(here.left, 1):
        record = the_boot(here, capsys, mark="never")
    assert record.outcome is Outcome.TARGET_DIED and "SIGKILL" in record.detail


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_where_bootlab_is_ended(here: Here, number: signal.Signals) -> None:
    words = [sys.executable, "-m", "bootlab", *here.words("boot", here.system(mark="never"))]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    booting = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        until = time.monotonic() + 60
        while not any(one.isdigit() for one in here.left()):
            assert booting.poll() is None and time.monotonic() < until
            time.sleep(0.02)
        booting.send_signal(number)
        assert booting.wait(30) == (130 if number is signal.SIGINT else -9)
    finally:
        booting.kill()
        booting.communicate()
    until = time.monotonic() + 20
    while here.left():
        assert time.monotonic() < until, here.left()
        time.sleep(0.02)


def test_a_full_file_system_is_told(here: Here, capsys: pytest.CaptureFixture[str]) -> None:
    place = here.base / "small"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "jails", str(place)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        record = the_boot(here, capsys, base=place)
        assert record.outcome is Outcome.NOT_STARTED and "No space left on device" in record.detail
        assert list(place.iterdir()) == []
    finally:
        subprocess.run(["umount", str(place)], check=True)
        place.rmdir()
