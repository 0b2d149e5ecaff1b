"""The KVM probe: its guest runs and ends under emulation, and its answer about KVM is that of a real guest."""

import platform
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.targets.qemu.kvm import probe_accelerator, probe_kvm

pytestmark = pytest.mark.boot


@pytest.mark.promise("wall clock")
@pytest.mark.parametrize(("machine", "cpu"), [("x86_64", "qemu64"), ("x86_64", "max"), ("aarch64", "max")])
def test_the_probe_guest_runs_under_emulation(machine: str, cpu: str, cache: Cache) -> None:
    if machine == "x86_64" and platform.machine() != "x86_64":
        pytest.skip("the x86-64 probe guest is assembled on x86-64 hosts only")
    probe = probe_accelerator("tcg", machine, cpu, cache)
    assert probe.works, probe.reason


def test_no_device_is_a_no(cache: Cache, tmp_path: Path) -> None:
    probe = probe_kvm("host", cache, tmp_path / "kvm")
    assert not probe.works
    assert "does not exist" in probe.reason


def test_a_cpu_model_qemu_does_not_have_is_a_no(cache: Cache) -> None:
    probe = probe_accelerator("tcg", platform.machine(), "no-such-cpu", cache)
    assert not probe.works
    assert "no-such-cpu" in probe.reason
