"""Techniques of the kernel layer on a system whose kernel is built: what each asks for, proves and refuses."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.system import Compression, Disk, Initramfs, KernelBuild, KernelEntry, MachineType, System
from bootlab.techniques.catalogue import load_catalogue
from bootlab.techniques.kernel_ipconfig_no_wait import PATCH
from bootlab.techniques.technique import Evidence, Layer, Measured, Proof, Technique

Make = Callable[..., Evidence]
KERNEL = {technique.name: technique for technique in load_catalogue() if technique.layer is Layer.KERNEL}
EMPTY = Measured({}, {}, {}, "")
every = pytest.mark.parametrize("technique", KERNEL.values(), ids=KERNEL.keys())


def asked(technique: Technique, system: System, measured: Measured = EMPTY) -> dict[str, str]:
    build = technique.apply(system, measured).kernel.build
    assert build is not None
    return build.options


@every
def test_changes_nothing_but_the_build(technique: Technique, built: System) -> None:
    if (reason := technique.applies(built, EMPTY)) is not None:
        assert technique.name in (
            "kernel_appended_dtb",
            "kernel_arm_frame_pointers",
            "kernel_ipconfig_no_wait",
            "kernel_reduced",
            "kernel_strict_rwx_off",
            "kernel_thumb2",
        )
        assert "32-bit arm" in reason or "ip=" in reason or "kernel.build.reduced" in reason
        return
    changed = technique.apply(built, EMPTY)
    assert changed.kernel.build != built.kernel.build
    assert changed.model_copy(update={"kernel": built.kernel}) == built
    assert technique.applies(changed, EMPTY) is not None, "stacked twice it would be a build for nothing"


@every
def test_the_configuration_proves_it(technique: Technique, built: System, evidence: Make) -> None:
    system = built.with_cmdline("ip=10.0.2.15")
    if technique.applies(system, EMPTY) is not None:
        return
    wanted = asked(technique, system)
    on = {option: value for option, value in wanted.items() if value != "n"}
    was = {option: "y" for option, value in wanted.items() if value == "n"}
    after = replace(evidence(), kernel_config={"A": "y", **on})
    before = replace(evidence(), kernel_config={"A": "y", **was})
    assert technique.prove(after, before) is Proof.PROVEN
    assert technique.prove(before, before) is Proof.NO_EFFECT


@every
def test_needs_a_kernel_that_is_built(technique: Technique, system: System, measured: Measured) -> None:
    assert technique.applies(system, measured) == "the kernel is not built from source (kernel.build)"


def test_smp_is_kept_on_a_machine_with_several_vcpus(built: System) -> None:
    several = built.with_part("machine", vcpus=2)
    assert (KERNEL["kernel_smp_off"].applies(several, EMPTY) or "").startswith("the machine has 2 vCPUs, and no word")
    assert KERNEL["kernel_smp_off"].applies(several.with_cmdline("nosmp"), EMPTY) is None
    assert "9 vCPUs" in (KERNEL["kernel_nr_cpus"].applies(built.with_part("machine", vcpus=9), EMPTY) or "")
    few = Measured({}, {}, {}, "", {"SMP": "y", "NR_CPUS": "2"})
    assert KERNEL["kernel_nr_cpus"].applies(built, few) == "NR_CPUS is 2 already"


def test_modules_are_not_built_in_by_accident(built: System) -> None:
    found = Measured({}, {}, {}, "", {"MODULES": "y", "EXT4_FS": "m", "SMP": "y"})
    assert asked(KERNEL["kernel_modules_off"], built, found) == {"MODULES": "n", "EXT4_FS": "n"}
    loads = built.model_copy(update={"initramfs": Initramfs(init=Path("init"), modules=("virtio_blk",))})
    assert "initramfs.modules" in (KERNEL["kernel_modules_off"].applies(loads, found) or "")


def test_devices_need_their_bus(built: System) -> None:
    with_disk = built.model_copy(update={"disks": (Disk(size_mib=16),)})
    on_pc = with_disk.with_part("machine", type=MachineType.Q35, options={})
    assert "PCI devices" in (KERNEL["kernel_pci_off"].applies(on_pc, EMPTY) or "")
    assert KERNEL["kernel_pci_off"].applies(with_disk, EMPTY) is None
    assert "has disks" in (KERNEL["kernel_block_off"].applies(with_disk, EMPTY) or "")
    with_acpi = with_disk.with_part("machine", options={})
    assert "through ACPI" in (KERNEL["kernel_acpi_off"].applies(with_acpi, EMPTY) or "")
    assert KERNEL["kernel_acpi_off"].applies(with_disk, EMPTY) is None
    adds = KERNEL["kernel_add_virtio_blk"]
    assert asked(adds, with_disk)["VIRTIO_MMIO_CMDLINE_DEVICES"] == "y"
    assert asked(adds, on_pc)["VIRTIO_PCI"] == "y"


def test_the_mp_table_comes_back_where_acpi_goes(built: System) -> None:
    found = Measured({}, {}, {}, "", {"ACPI": "y", "X86_MPPARSE": "y"})
    without = KERNEL["kernel_mpparse_off"].apply(built, found)
    assert asked(KERNEL["kernel_acpi_off"], without, found) == {"ACPI": "n", "X86_MPPARSE": "y"}


def test_an_uncompressed_kernel_has_no_compression(built: System) -> None:
    pvh = built.with_part("kernel", entry=KernelEntry.PVH)
    assert "uncompressed" in (KERNEL["kernel_image_lz4"].applies(pvh, EMPTY) or "")
    arm = built.with_part("machine", type=MachineType.VIRT, options={})
    assert KERNEL["kernel_image_lz4"].applies(arm, EMPTY) == "only x86-64 and 32-bit arm; this system is aarch64"


def test_an_initramfs_keeps_what_unpacks_it(built: System) -> None:
    holds = built.model_copy(update={"initramfs": Initramfs(init=Path("init"), compression=Compression.NONE)})
    assert KERNEL["kernel_initrd_off"].applies(holds, EMPTY) == "the system has an initramfs"
    assert "not over an initramfs" in (KERNEL["kernel_devtmpfs_mount"].applies(holds, EMPTY) or "")


def test_the_network_is_configured_by_somebody(built: System) -> None:
    asks = built.with_cmdline("ip=10.0.2.15::10.0.2.2:255.255.255.0::eth0:off")
    assert "(ip=)" in (KERNEL["kernel_ip_pnp_off"].applies(asks, EMPTY) or "")
    changed = KERNEL["kernel_ipconfig_no_wait"].apply(asks, EMPTY)
    assert isinstance(changed.kernel.build, KernelBuild)
    assert changed.kernel.build.patches == (PATCH,)
    assert changed.kernel.build.options == {"IP_PNP_SETTLE_MS": "0"}
    assert PATCH.is_file()
