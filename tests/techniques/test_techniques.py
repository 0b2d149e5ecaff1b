"""What every technique promises, and what the ones with a value or a condition of their own do."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from bootlab.system import Compression, KernelEntry, Machine, MachineType, System
from bootlab.techniques.catalogue import load_catalogue
from bootlab.techniques.technique import Evidence, Measured, Proof, Technique

Make = Callable[..., Evidence]
ALL = {technique.name: technique for technique in load_catalogue()}
every = pytest.mark.parametrize("technique", ALL.values(), ids=ALL.keys())


@every
def test_changes_the_system_exactly_where_it_says_it_applies(
    technique: Technique, system: System, measured: Measured
) -> None:
    if (reason := technique.applies(system, measured)) is not None:
        assert reason
        assert not reason.endswith(".")
        return
    changed = technique.apply(system, measured)
    assert changed != system
    assert changed == technique.apply(system, measured)
    assert changed.name == system.name
    # Stacked twice it would be a boot for nothing.
    if technique.name not in ("cmdline_slowest_initcall", "machine_memory_half"):
        assert technique.applies(changed, measured) is not None


@every
def test_a_boot_that_says_nothing_proves_nothing(technique: Technique, evidence: Make) -> None:
    assert technique.prove(evidence(), evidence()) is Proof.NOT_SHOWN


@every
def test_a_boot_is_no_proof_against_itself(technique: Technique, evidence: Make, silent_log: tuple[str, ...]) -> None:
    one = evidence(
        *silent_log, slide=0x2000000, ran=technique.watch, printk="7 4 1 7", lsm="lockdown,apparmor", acpi="yes"
    )
    assert technique.prove(one, one) is not Proof.PROVEN


@every
def test_the_command_line_is_no_proof(
    technique: Technique, system: System, measured: Measured, evidence: Make, silent_log: tuple[str, ...]
) -> None:
    if technique.applies(system, measured) is not None:
        return
    words = technique.apply(system, measured).kernel.cmdline
    before = evidence(*silent_log, f"Kernel command line: {system.kernel.cmdline}", cmdline=system.kernel.cmdline)
    after = evidence(*silent_log, f"Kernel command line: {words}", cmdline=words)
    assert technique.prove(after, before) is not Proof.PROVEN


@every
def test_says_why_not_on_another_architecture(technique: Technique, system: System, measured: Measured) -> None:
    arm = system.with_part("machine", type=MachineType.VIRT)
    if technique.applies(arm, measured) is None:
        assert technique.apply(arm, measured).machine.arch == "aarch64"


def apply(name: str, system: System, measured: Measured) -> System:
    assert ALL[name].applies(system, measured) is None
    return ALL[name].apply(system, measured)


def test_values_come_from_the_measured_boot(system: System, measured: Measured) -> None:
    assert apply("cmdline_lpj", system, measured).kernel.cmdline.endswith(" lpj=3999972")
    assert apply("cmdline_tsc_early_khz", system, measured).kernel.cmdline.endswith(" tsc_early_khz=999993")
    silent = replace(measured, facts={})
    assert "does not say" in (ALL["cmdline_lpj"].applies(system, silent) or "")


def test_the_slowest_safe_initcall_is_skipped_and_then_the_next(system: System, measured: Measured) -> None:
    measured = replace(measured, initcalls_ns={"inet6_init": 8, "tpm_init": 9, "acpi_init": 100})
    once = apply("cmdline_slowest_initcall", system, measured)
    twice = apply("cmdline_slowest_initcall", once, measured)
    assert once.kernel.cmdline.endswith(" initcall_blacklist=tpm_init")
    assert twice.kernel.cmdline.endswith(" initcall_blacklist=inet6_init")
    assert ALL["cmdline_slowest_initcall"].applies(twice, measured) is not None


def test_an_initcall_that_did_not_run_is_not_skipped(system: System, measured: Measured) -> None:
    assert ALL["cmdline_trace_events"].applies(system, measured) == "the baseline boot ran no initcall trace_eval_init"
    unseen = replace(measured, initcalls_ns={})
    assert ALL["cmdline_trace_events"].applies(system, unseen) is None


def test_microvm_takes_its_driver_along_and_needs_acpi(system: System, measured: Measured) -> None:
    with_options = system.with_part("machine", options={"hpet": "off"})
    with_options = with_options.with_part("initramfs", modules=("virtio_blk",))
    changed = apply("machine_microvm", with_options, measured)
    assert changed.machine == Machine(type=MachineType.MICROVM, memory_mib=256)
    assert changed.initramfs is not None
    assert changed.initramfs.modules == ("virtio_mmio", "virtio_blk")
    assert "virtio-mmio" in (ALL["cmdline_acpi_off"].applies(changed, measured) or "")
    without_acpi = system.with_cmdline("acpi=off")
    assert "virtio-mmio" in (ALL["machine_microvm"].applies(without_acpi, measured) or "")


def test_pci_devices_need_their_bus(system: System, measured: Measured) -> None:
    assert ALL["cmdline_pci_off"].applies(system, measured) == "the disks and network of q35 are PCI devices"
    assert ALL["cmdline_pci_off"].applies(apply("machine_microvm", system, measured), measured) is None


def test_per_cpu_hardware_stays_on_a_machine_with_several_vcpus(system: System, measured: Measured) -> None:
    several = system.with_part("machine", vcpus=2)
    assert "2 vCPUs" in (ALL["cmdline_nolapic_timer"].applies(several, measured) or "")
    assert apply("machine_one_vcpu", several, measured).machine.vcpus == 1


def test_pruning_keeps_what_drove_a_device(system: System, measured: Measured) -> None:
    pruned = apply("initramfs_pruned", system, measured)
    assert pruned.initramfs is not None
    assert pruned.initramfs.modules == ("virtio_pci", "virtio_blk")
    on_microvm = apply("initramfs_pruned", apply("machine_microvm", system, measured), measured)
    assert on_microvm.initramfs is not None
    assert "virtio_mmio" in on_microvm.initramfs.modules
    assert system.initramfs is not None
    everything = system.with_part("initramfs", modules=("*", "ext4"))
    found = apply("initramfs_pruned", everything, measured).initramfs
    assert found is not None
    assert found.modules == ("virtio_pci", "virtio_blk")


def test_pruning_a_distributions_own_initramfs_keeps_what_was_loaded(system: System, measured: Measured) -> None:
    recipe = {"installed": True, "busybox": False}
    installed = System.model_validate(
        {**dict(system), "initramfs": recipe, "rootfs": {"packages": ["initramfs-tools"], "scripts": True}}
    )
    assert "did not say" in (ALL["initramfs_pruned"].applies(installed, measured) or ""), "what it loaded, not used"
    loaded = Measured({"modules": "virtio_blk ext4 virtio-ring"}, {}, {}, "")
    pruned = apply("initramfs_pruned", installed, loaded)
    assert pruned.initramfs is not None
    assert pruned.initramfs.keep_modules == ("ext4", "virtio_blk", "virtio_ring")
    assert ALL["initramfs_pruned"].applies(pruned, loaded) == "every module in the initramfs was used"


def test_a_direct_init_must_be_offered(system: System, measured: Measured) -> None:
    assert apply("initramfs_direct_init", system, measured).kernel.cmdline.endswith(" rdinit=/sbin/init-direct")
    without = system.with_part("initramfs", files={})
    assert "offers no program" in (ALL["initramfs_direct_init"].applies(without, measured) or "")


def test_a_finished_archive_is_not_packed_again(system: System, measured: Measured) -> None:
    from pathlib import Path

    from bootlab.system import Initramfs

    finished = system.model_copy(update={"initramfs": Initramfs(path=Path("initramfs.gz"))})
    assert "finished archive" in (ALL["initramfs_lz4"].applies(finished, measured) or "")
    assert ALL["initramfs_pruned"].applies(finished, measured) is not None


def test_the_decompressor_that_ran_proves_the_compression(system: System, evidence: Make) -> None:
    gzip, lz4, none = evidence(ran=("gunzip",)), evidence(ran=("unlz4",)), evidence()
    assert ALL["initramfs_lz4"].prove(lz4, gzip) is Proof.PROVEN
    assert ALL["initramfs_lz4"].prove(gzip, gzip) is Proof.NO_EFFECT
    assert ALL["initramfs_lz4"].prove(none, gzip) is Proof.NOT_SHOWN
    lzo = evidence(ran=("unlzo",))
    assert (ALL["initramfs_lzo"].prove(lzo, gzip), ALL["initramfs_lzo"].prove(lz4, gzip)) == (
        Proof.PROVEN,
        Proof.NO_EFFECT,
    )
    assert ALL["initramfs_none"].prove(none, gzip) is Proof.PROVEN
    assert ALL["initramfs_none"].prove(none, none) is Proof.NOT_SHOWN
    assert ALL["initramfs_none"].apply(system, Measured({}, {}, {}, "")).initramfs.compression is Compression.NONE  # type: ignore[union-attr]


def test_pvh_is_proven_by_the_missing_decompressor(system: System, measured: Measured, evidence: Make) -> None:
    def boot(kernel_entry_ns: int) -> Evidence:
        return Evidence({}, {}, {"image_entry": 5_000_000, "kernel_entry": kernel_entry_ns}, "", 0)

    prove = ALL["firmware_pvh"].prove
    assert prove(boot(5_000_000), boot(700_000_000)) is Proof.PROVEN
    assert prove(boot(700_000_000), boot(700_000_000)) is Proof.NO_EFFECT
    assert prove(evidence(boot_protocol="0x020c"), evidence(boot_protocol="0x020f")) is Proof.PROVEN
    assert apply("firmware_pvh", system, measured).kernel.entry is KernelEntry.PVH


def test_kaslr_is_proven_off_by_the_slide(evidence: Make) -> None:
    prove = ALL["cmdline_nokaslr"].prove
    assert prove(evidence(slide=0), evidence(slide=0x1A000000)) is Proof.PROVEN
    assert prove(evidence(slide=0x2000000), evidence(slide=0x1A000000)) is Proof.NO_EFFECT
    assert prove(evidence(slide=None), evidence(slide=0x1A000000)) is Proof.NOT_SHOWN
    assert prove(evidence(slide=0), evidence(slide=0)) is Proof.NOT_SHOWN


def test_security_modules_and_mitigations_are_read_from_the_running_kernel(evidence: Make) -> None:
    full = evidence(lsm="lockdown,capability,apparmor")
    assert ALL["cmdline_lsm_none"].prove(evidence(lsm="capability"), full) is Proof.PROVEN
    assert ALL["cmdline_lsm_none"].prove(full, full) is Proof.NO_EFFECT
    assert ALL["cmdline_apparmor_off"].prove(evidence(lsm="lockdown,capability"), full) is Proof.PROVEN
    assert ALL["cmdline_apparmor_off"].prove(full, full) is Proof.NO_EFFECT
    safe = evidence(**{"vulnerabilities.spectre_v2": "Mitigation: Retpolines", "vulnerabilities.mds": "Not affected"})
    open_ = evidence(**{"vulnerabilities.spectre_v2": "Vulnerable", "vulnerabilities.mds": "Not affected"})
    assert ALL["cmdline_mitigations_off"].prove(open_, safe) is Proof.PROVEN
    assert ALL["cmdline_mitigations_off"].prove(safe, safe) is Proof.NO_EFFECT


def test_the_random_generator_must_be_ready_earlier_in_the_log(evidence: Make) -> None:
    late, early = evidence("a", "b", "random: crng init done"), evidence("random: crng init done", "a", "b")
    prove = ALL["cmdline_random_trust"].prove
    assert prove(early, late) is Proof.PROVEN
    assert prove(late, late) is Proof.NOT_SHOWN
    assert prove(early, evidence("a", "b")) is Proof.PROVEN


def test_qboot_is_seen_in_what_the_firmware_says_of_itself(evidence: Make, silent_log: tuple[str, ...]) -> None:
    prove = ALL["firmware_qboot"].prove
    seabios = evidence(*silent_log, "DMI: QEMU Standard PC (Q35 + ICH9, 2009), BIOS 1.16.3-debian 04/01/2014")
    assert prove(evidence(*silent_log, "DMI: QEMU Standard PC (Q35 + ICH9, 2009), BIOS 0.1 11/11/2019"), seabios) is (
        Proof.PROVEN
    )
    # qboot gives microvm no DMI tables.
    assert prove(evidence(*silent_log), seabios) is Proof.PROVEN
    assert prove(seabios, seabios) is Proof.NO_EFFECT


def test_firmware_without_an_mp_table_needs_acpi(system: System, measured: Measured) -> None:
    assert "MP table" in (ALL["firmware_qboot"].applies(system.with_cmdline("acpi=off"), measured) or "")
    qboot = apply("firmware_qboot", system, measured)
    assert "MP table" in (ALL["cmdline_acpi_off"].applies(qboot, measured) or "")
    alone = system.model_copy(update={"disks": (), "network": None})
    microvm = alone.with_part("machine", type="microvm", options={"acpi": "off"})
    assert "MP table" in (ALL["cmdline_acpi_off"].applies(microvm, measured) or "")


def test_one_timer_is_left(system: System, measured: Measured) -> None:
    microvm = apply("machine_microvm", system, measured)
    assert "no other timer" in (ALL["cmdline_nolapic_timer"].applies(microvm, measured) or "")
    no_lapic = apply("cmdline_nolapic_timer", system, measured)
    assert "no other timer" in (ALL["machine_microvm"].applies(no_lapic, measured) or "")
