"""Cloud Hypervisor for real on this host's KVM, be it too slow for a kernel: its guest has fifty bytes (tiny_guest.py).

BOOTLAB_CLOUD_HYPERVISOR names the program (scripts/vmm builds one), BOOTLAB_FIRECRACKER that of Firecracker, beside
which a series is booted. test_cloud_hypervisor.py boots kernels.
"""

import fcntl
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from bootlab.cli.app import run
from bootlab.errors import StoreError
from bootlab.measure.record import BootRecord, Outcome
from tests.boot.vmms.nested_vmms import CLOUD_HYPERVISOR_PROGRAM, FIRECRACKER_PROGRAM
from tests.targets.vmm.tiny_guest import OFF, RESET, STAY, tiny_kernel

pytestmark = [pytest.mark.boot, pytest.mark.kernel]

KVM = Path("/dev/kvm")
KVM_CHECK_EXTENSION, KVM_CAP_NESTED_STATE = 0xAE03, 157  # linux/kvm.h
SYSTEM = """
[target]
kind = "{kind}"
binary = "{binary}"
probe = false
{target}
[kernel]
image = "{guest}.elf"
cmdline = ""
[booted]
{booted}
deadline_s = 20
"""


@pytest.fixture
def program() -> str:
    found = shutil.which(CLOUD_HYPERVISOR_PROGRAM)
    if found is None:
        pytest.skip("no Cloud Hypervisor here: scripts/vmm builds one, BOOTLAB_CLOUD_HYPERVISOR names it")
    if not os.access(KVM, os.R_OK | os.W_OK):
        pytest.skip("no KVM here")
    return found


def ask(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    capsys.readouterr()
    code = run([*words, "--runs", str(folder / "runs"), "--json"])
    return code, json.loads(capsys.readouterr().out)


def system(folder: Path, binary: str, guest: str = "stay", **more: str) -> str:
    ends = {"off": OFF, "reset": RESET, "stay": STAY}
    (folder / f"{guest}.elf").write_bytes(tiny_kernel(ends[guest]))
    kind = more.get("kind", "cloud-hypervisor")
    path = folder / f"{kind}.toml"
    values = {"kind": kind, "binary": binary, "target": "", "booted": 'mark = "ready"', **more}
    path.write_text(SYSTEM.format(guest=guest, **values))
    return str(path)


@pytest.mark.parametrize(
    ("target", "steps"),
    [
        ("", ["VMM start", "API", "VM creation"]),
        ("api = false", ["VMM start and configuration", "VM creation"]),
        ("prefault = true\nshared = true\nthp = false\nseccomp = false", ["VMM start", "API", "VM creation"]),
    ],
)
def test_a_boot_is_split_into_its_parts(
    program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], target: str, steps: list[str]
) -> None:
    path = system(tmp_path, program, target=target)
    code, document = ask(tmp_path, capsys, "boot", path)
    assert code == 0, document
    record = BootRecord.model_validate(document)
    assert record.vmm is not None and [step.name for step in record.vmm.launch] == steps
    assert 0 < record.marks["debug_port_0x60"] <= record.marks["ready"] + 1_000_000
    own = record.vmm.own
    # The vCPU may have run before the event that says so, which one that is killed may not come to write.
    if "vm booted" in own:
        assert own["vm booting"] < own["vm booted"]
        assert record.vmm.launch[-1].duration_ns < own["vm booted"] - own["vm booting"] + 1_000_000
    assert "vm booted" in own or "api = false" in target


@pytest.mark.parametrize(("guest", "words"), [("off", "guest shutdown"), ("reset", "guest reset")])
@pytest.mark.parametrize("target", ["", "api = false"])
def test_how_a_guest_ends_is_told(
    program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], guest: str, words: str, target: str
) -> None:
    code, document = ask(tmp_path, capsys, "boot", system(tmp_path, program, guest, target=target, booted='mark = "x"'))
    record = BootRecord.model_validate(document)
    assert code == 1 and record.outcome is Outcome.NOT_READY and words in record.detail, record.detail


def test_what_it_refuses_is_told_in_its_own_words(
    program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for target in ("", "api = false"):
        # A network device, and no tap.
        path = Path(system(tmp_path, program, target=f'{target}\ntap = "lo"'))
        path.write_text(path.read_text() + "[network]\n")
        code, document = ask(tmp_path, capsys, "boot", str(path))
        record = BootRecord.model_validate(document)
        assert code == 1 and record.outcome is Outcome.NOT_STARTED, record.detail
        assert "vm.boot: refused (500): Error from API" in record.detail or "did not start" in record.detail
        assert "tap" in record.detail.lower(), record.detail
        print(record.detail)


def test_a_machine_is_kept_where_kvm_tells_the_state_of_nested_guests(
    program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = system(tmp_path, program)
    Path(path).write_text(Path(path).read_text() + "[machine]\nmemory_mib = 32\n")
    with KVM.open("rb+", buffering=0) as kvm:
        tells = fcntl.ioctl(kvm, KVM_CHECK_EXTENSION, KVM_CAP_NESTED_STATE) > 0
    if tells:
        code, kept = ask(tmp_path, capsys, "snapshot", path, "--at", "ready")
        assert code == 0 and kept["bytes"]["ram"] == 32 << 20
    else:
        with pytest.raises(StoreError, match="vm.snapshot: refused .500.: .*GetNestedState") as caught:
            ask(tmp_path, capsys, "snapshot", path, "--at", "ready")
        assert caught.value.hint is not None and "KVM_CAP_NESTED_STATE" in caught.value.hint
        assert "backtrace" not in caught.value.message
        assert not list((tmp_path / "runs").glob("*/.unfinished-*"))


def test_a_storm_and_a_profile_of_it(program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = system(tmp_path, program)
    code, storm = ask(tmp_path, capsys, "storm", path, "-n", "6")
    assert code == 0 and storm["ready"] == 6 and all(one["launch_ns"] > 0 for one in storm["machines"])
    code, profile = ask(tmp_path, capsys, "profile", path, "--pairs", "2")
    assert code == 0 and "KVM_CREATE_VM took" in json.dumps(profile)


def test_a_series_beside_firecracker(program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = shutil.which(FIRECRACKER_PROGRAM)
    if other is None:
        pytest.skip("no Firecracker here")
    first, second = system(tmp_path, other, kind="firecracker"), system(tmp_path, program)
    code, compared = ask(tmp_path, capsys, "compare", first, second, "-n", "5")
    assert code == 0, compared
    for side in ("before", "after"):
        for part in compared["parts"][side]:
            times = sorted(part["times_ns"])
            assert len(times) == 5
            print(f"{side} {part['name']}: {times[2] / 1e6:.2f} ms, {times[0] / 1e6:.2f} to {times[-1] / 1e6:.2f}")
