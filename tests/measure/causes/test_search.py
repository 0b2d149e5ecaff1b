"""What the console of a boot that got no further tells: lines of real boots (QEMU 10.0.2, Debian's 6.1.176)."""

from bootlab.measure.causes.search import find_known_cause
from bootlab.system import System

NO_TSC = (
    "[    0.000000] tsc: Unable to calibrate against PIT\n"
    "[    0.000000] tsc: No reference (HPET/PMTIMER) available\n"
    "[    0.000000] tsc: Marking TSC unstable due to could not calculate TSC khz\n"
)
NO_INTERRUPTS = (
    "[    0.000000] APIC disabled via kernel command line\n"
    "[    0.000000] APIC: Keep in PIC mode(8259)\n"
    "[    1.367185] Run /init as init process\n"
)


VECTOR_0 = (
    "[    0.069210] divide error: 0000 [#1] PREEMPT SMP NOPTI\n"
    "[    0.069593] Kernel panic - not syncing: Attempted to kill the idle task!\n"
)

HYPERCALL = (
    "[    0.818641] invalid opcode: 0000 [#1] PREEMPT SMP NOPTI\n"
    "[    0.819157] RIP: 0010:kvm_arch_ptp_init+0x5b/0x110 [ptp_kvm]\n"
    "[    0.819180] Code: 48 8b 1d fc 23 00 00 b8 09 00 00 00 31 c9 <0f> 01 d9 48 3d 18 fc ff ff 74 0a 48 83 c4 08\n"
)

NO_64_BIT = (
    "[   15.746662] org.gnome.Shell.desktop[268]: LLVM ERROR: 64-bit code requested on a subtarget that doesn't "
    "support it!\n"
)


def system(clock: str = "wall", entry: str = "image", **machine: object) -> System:
    return System.model_validate(
        {
            "name": "test",
            "machine": {"type": "microvm", **machine},
            "clock": {"kind": clock},
            "kernel": {"image": "vmlinuz", "entry": entry, "cmdline": "console=ttyS0"},
            "booted": {"mark": "ready"},
        }
    )


def test_a_tsc_that_could_not_be_measured() -> None:
    cause = find_known_cause(system(), NO_TSC)
    assert cause is not None and "tsc_early_khz=" in cause
    assert find_known_cause(system(), NO_TSC + "[    0.1] Calibrating delay loop... done\n") is None
    assert find_known_cause(system(type="q35"), NO_TSC) is None
    assert find_known_cause(system("virtual"), NO_TSC) is None
    cause = find_known_cause(system("virtual", options={"pit": "off"}), NO_TSC)
    assert cause is not None and "without the PIT" in cause


def test_interrupts_that_nobody_connected() -> None:
    for at_risk in (system(options={"acpi": "off"}), system(firmware="qboot"), system(type="q35", firmware="qboot")):
        cause = find_known_cause(at_risk, NO_INTERRUPTS)
        assert cause is not None and "acpi=off" in cause
    assert find_known_cause(system(), NO_INTERRUPTS) is None


def test_an_interrupt_that_nobody_expects() -> None:
    for console in (VECTOR_0, ""):
        cause = find_known_cause(system("virtual", "pvh"), console)
        assert cause is not None and 'pic = "off"' in cause
    assert find_known_cause(system("virtual", "pvh"), "[    1.0] Run /init as init process\n") is None
    assert find_known_cause(system("virtual", "pvh", options={"pic": "off"}), VECTOR_0) is None
    assert find_known_cause(system("virtual", "pvh", type="q35"), VECTOR_0) is None
    assert find_known_cause(system("virtual", "image"), VECTOR_0) is None


def test_a_compiler_of_shaders_that_takes_the_processor_for_one_of_32_bits() -> None:
    cause = find_known_cause(system(type="q35"), NO_64_BIT)
    assert cause is not None and "max,family=15" in cause
    assert find_known_cause(system(type="q35", cpu="max,family=15,model=107,stepping=1"), NO_64_BIT) is None


def test_what_is_not_known_is_not_guessed() -> None:
    assert find_known_cause(system(), "[    1.0] Run /init as init process\n") is None
    assert find_known_cause(system(), "") is None


def test_a_hypercall_that_no_emulated_cpu_knows() -> None:
    cause = find_known_cause(system("virtual", hypervisor="kvm"), HYPERCALL)
    assert cause is not None and "PTP_1588_CLOCK_KVM = false" in cause
    assert find_known_cause(system("virtual"), HYPERCALL) is None
    assert find_known_cause(system("virtual", hypervisor="kvm"), HYPERCALL.replace("<0f> 01", "<0f> 0b")) is None
