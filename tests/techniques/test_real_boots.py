"""Proofs held against real boots of Debian's cloud kernels: baseline, a stack that costs functions, one with risks.

Recorded under QEMU 10.0.2 on q35, on the virtual clock: what the guest printed, which watched functions ran.
"""

import json
from pathlib import Path

import pytest

from bootlab.techniques.model.evidence import Effect, Evidence
from bootlab.techniques.model.proofs import WATCH_PREFIX
from bootlab.techniques.model.technique import Layer
from tests.techniques.asking import ALL

DATA = Path(__file__).parents[1] / "data" / "techniques"
FUNCTION = """
    cmdline_cryptomgr_notests initramfs_none cmdline_no_timer_check cmdline_quiet cmdline_rcu_expedited cmdline_lpj
    cmdline_nolapic_timer cmdline_trace_events cmdline_ftrace_names cmdline_tsc_reliable cmdline_8250_nr_uarts
    cmdline_i8042 cmdline_nowatchdog cmdline_hash_entries cmdline_numa_off cmdline_ipv6_disable machine_fewer_devices
""".split()
RISKS = """
    cmdline_acpi_off firmware_pvh cmdline_certs_builtin cmdline_init_on_alloc_off cmdline_mitigations_off
    cmdline_audit_off cmdline_lsm_none cmdline_rodata_off cmdline_nokaslr
""".split()
"""What one boot had more than the baseline, and the other had more than that one."""
IN_NEITHER = """
    machine_microvm machine_pc machine_memory_half firmware_qboot cmdline_pci_off initramfs_lz4 initramfs_xz
    initramfs_lzo
""".split()


def boot(name: str) -> Evidence:
    record = json.loads((DATA / f"{name}.json").read_text())
    log = {f"dmesg.{number}": line for number, line in enumerate(record["log"], 1)}
    return Evidence(record["facts"] | log, {}, record["marks"], "", record["kaslr_slide"])


@pytest.mark.parametrize("kernel", ["linux-6.1", "linux-6.12"])
@pytest.mark.parametrize("name", FUNCTION)
def test_a_real_boot_proves_what_was_changed(kernel: str, name: str) -> None:
    before, after = boot(f"{kernel}-baseline"), boot(f"{kernel}-function")
    assert ALL[name].proof.prove(after, before) is Effect.PROVEN
    assert ALL[name].proof.prove(before, before) is not Effect.PROVEN


@pytest.mark.parametrize("kernel", ["linux-6.1", "linux-6.12"])
@pytest.mark.parametrize("name", RISKS)
def test_a_real_boot_proves_what_was_changed_on_top(kernel: str, name: str) -> None:
    before, after = boot(f"{kernel}-function"), boot(f"{kernel}-with-risks")
    assert ALL[name].proof.prove(after, before) is Effect.PROVEN
    assert ALL[name].proof.prove(before, boot(f"{kernel}-baseline")) is not Effect.PROVEN


@pytest.mark.parametrize("kernel", ["linux-6.1", "linux-6.12"])
@pytest.mark.parametrize("name", IN_NEITHER)
def test_a_real_boot_does_not_prove_what_was_left_alone(kernel: str, name: str) -> None:
    assert ALL[name].proof.prove(boot(f"{kernel}-with-risks"), boot(f"{kernel}-baseline")) is not Effect.PROVEN


@pytest.mark.parametrize("kernel", ["linux-6.1", "linux-6.12"])
def test_every_watched_function_ran_in_a_real_boot(kernel: str) -> None:
    marks = boot(f"{kernel}-baseline").marks
    unseen = {
        name
        for name, technique in ALL.items()
        # Recorded on finished kernels with an initramfs, which has neither a root nor a bootloader of ours.
        if technique.proof.watch
        and technique.change.layer not in (Layer.KERNEL, Layer.ROOTFS, Layer.USERSPACE, Layer.BOOTLOADER)
        and not any(WATCH_PREFIX + symbol in marks for symbol in technique.proof.watch)
    }
    # What probes in parallel runs only once it is asked to; a PC times its counter by ticks, and took no ten seconds.
    unseen -= {"cmdline_driver_async_probe", "cmdline_tsc_early_khz", "cmdline_deferred_probe_timeout"}
    # 6.1 has the jitter generator as a module, and the check loads none.
    assert unseen == ({"cmdline_jitterentropy"} if kernel == "linux-6.1" else set())
