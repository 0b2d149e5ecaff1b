"""Which traps exit, by the rule sets as they are shipped: every rule has its class, its reason and its source."""

import numpy as np
import pytest

from bootlab.price.classes import NO_EXIT
from bootlab.price.rules import MACHINES, RULE_SETS, Rule, RuleSet, RuleSetName, find_exits, price_lines, read_rule_set
from bootlab.price.traps import CACHES_OFF, TRAPS_OF, TrapKind

FIELDS = np.dtype([("kind", "<u2"), ("state", "<u2"), ("number", "<u8"), ("changes", "<u4")])
X86_SETS: tuple[RuleSetName, ...] = ("svm", "vmx")
PC_MACHINES = MACHINES["x86_64"]
PGE, TS, WP = 1 << 7, 1 << 3, 1 << 16


def exit_of(
    rules: RuleSetName, kind: TrapKind, number: int = 0, *, changes: int = 0, state: int = 0, machine: str = "q35"
) -> tuple[str, bool]:
    """Return the class of one trap's exit, and whether it is bound to time."""
    found = find_exits(read_rule_set(rules).on(machine), np.array([(kind, state, number, changes)], dtype=FIELDS))
    index = int(found.exit_class[0])
    return (NO_EXIT if index < 0 else found.names[index]), bool(found.time_bound[0])


@pytest.mark.parametrize("rules", X86_SETS)
def test_ports_and_registers_of_devices(rules: RuleSetName) -> None:
    assert exit_of(rules, TrapKind.OUT, 0x3F8) == ("pio_vmm", False)
    assert exit_of(rules, TrapKind.OUT, 0x20) == exit_of(rules, TrapKind.IN, 0x4D1) == ("pio_kvm", False)
    assert exit_of(rules, TrapKind.IN, 0x42) == ("pio_kvm", True)
    assert exit_of(rules, TrapKind.IN, 0x44) == ("pio_vmm", False)
    assert exit_of(rules, TrapKind.IN, 0x608) == ("pio_vmm", True)
    assert exit_of(rules, TrapKind.OUTS, 0x3F8) == ("pio_string", False)
    assert exit_of(rules, TrapKind.MMIO_WRITE, 0xFEE00300) == ("mmio_lapic", False)
    assert exit_of(rules, TrapKind.MMIO_WRITE, 0xFEE000B0) == ("mmio_lapic", True)
    assert exit_of(rules, TrapKind.MMIO_READ, 0xFEC00010) == ("mmio_ioapic", False)
    assert exit_of(rules, TrapKind.MMIO_READ, 0xFED000F0) == ("mmio_vmm", True)
    assert exit_of(rules, TrapKind.MMIO_READ, 0xFED00000) == ("mmio_vmm", False)


@pytest.mark.parametrize("rules", X86_SETS)
def test_who_serves_a_device_is_the_machines(rules: RuleSetName) -> None:
    """QEMU's microvm leaves KVM the local APIC alone; what QEMU has KVM keep for later does not stop for the VMM."""
    cases = {
        (TrapKind.OUT, 0x20): {"pio_vmm": ["microvm"]},
        (TrapKind.IN, 0x40): {"pio_vmm": ["microvm"]},
        (TrapKind.MMIO_WRITE, 0xFEC00000): {"mmio_vmm": ["microvm"], "mmio_ioapic": ["q35", "pc", "firecracker"]},
        (TrapKind.MMIO_WRITE, 0xFEE00300): {"mmio_lapic": list(PC_MACHINES)},
        (TrapKind.OUT, 0x70): {"pio_vmm": ["firecracker"]},
        (TrapKind.IN, 0x71): {"pio_vmm": list(PC_MACHINES)},
        (TrapKind.OUT, 0xCF8): {"pio_vmm": list(PC_MACHINES)},
        (TrapKind.OUT, 0xCFB): {"pio_vmm": ["microvm", "firecracker"]},
        (TrapKind.IN, 0xCFC): {"pio_vmm": list(PC_MACHINES)},
    }
    for (kind, number), wanted in cases.items():
        for machine in PC_MACHINES:
            name = next((name for name, those in wanted.items() if machine in those), "pio_kvm")
            assert exit_of(rules, kind, number, machine=machine)[0] == name, (kind, hex(number), machine)
    assert read_rule_set(rules).on("microvm", "firecracker") == read_rule_set(rules).on("firecracker")


@pytest.mark.parametrize("rules", X86_SETS)
def test_instructions(rules: RuleSetName) -> None:
    for kind, wanted in ((TrapKind.CPUID, "cpuid"), (TrapKind.XSETBV, "xsetbv"), (TrapKind.HYPERCALL, "hypercall")):
        assert exit_of(rules, kind) == (wanted, False)
    assert exit_of(rules, TrapKind.HLT) == ("hlt", True)
    assert exit_of(rules, TrapKind.WBINVD) == exit_of(rules, TrapKind.INVD) == ("wbinvd", False)
    assert exit_of(rules, TrapKind.LOST) == (NO_EXIT, False)
    assert exit_of(rules, TrapKind.WRMSR, 0x6E0) == ("wrmsr", True)
    assert exit_of(rules, TrapKind.WRMSR, 0xC0000102) == (NO_EXIT, False)
    assert exit_of(rules, TrapKind.CR_WRITE, 3) == exit_of(rules, TrapKind.CR_READ, 4) == (NO_EXIT, False)


def test_what_the_two_sets_differ_in() -> None:
    """A flush of the TLB by CR4.PGE is an exit on SVM alone; STAR and its kin are the guest's own there."""
    assert exit_of("svm", TrapKind.CR_WRITE, 4, changes=PGE) == ("cr", False)
    assert exit_of("vmx", TrapKind.CR_WRITE, 4, changes=PGE) == (NO_EXIT, False)
    assert exit_of("vmx", TrapKind.CR_WRITE, 4, changes=1 << 20) == ("cr", False)
    assert exit_of("svm", TrapKind.WRMSR, 0xC0000082) == (NO_EXIT, False)
    assert exit_of("vmx", TrapKind.WRMSR, 0xC0000082) == ("wrmsr", False)
    assert exit_of("svm", TrapKind.CR_WRITE, 0, changes=TS) == (NO_EXIT, False)
    assert exit_of("svm", TrapKind.CR_WRITE, 0, changes=WP) == ("cr", False)
    assert exit_of("svm", TrapKind.CR_WRITE, 0, changes=1) == ("cr", True)
    assert exit_of("svm", TrapKind.CR_READ, 0) == (NO_EXIT, False)
    assert exit_of("svm", TrapKind.CR_READ, 0, state=CACHES_OFF) == ("cr", False)


def arm64(kind: TrapKind, register: str = "0", *, state: int = 0) -> str:
    """Return the class of an exit of arm64; `register`: its number in hexadecimal, or in the assembler's words."""
    rule = {"class": "none", "traps": ["wfi"], "numbers": [register], "why": "", "source": ""}
    return exit_of("arm64", kind, Rule.model_validate(rule).numbers[0][0], state=state, machine="virt")[0]


READ, WRITE = TrapKind.SYSREG_READ, TrapKind.SYSREG_WRITE


def test_registers_by_which_an_arm64_kernel_learns_its_cpu() -> None:
    for register in ("S3_0_C0_C1_0", "S3_0_C0_C4_0", "S3_0_C0_C7_7"):  # ID_PFR0, ID_AA64PFR0, the last of group 3
        assert arm64(READ, register) == "sysreg_read"
    for register in ("S3_0_C0_C0_0", "S3_0_C0_C0_5", "S3_3_C0_C0_7"):  # MIDR, MPIDR, DCZID: the processor answers
        assert arm64(READ, register) == NO_EXIT
    for register in ("S3_3_C0_C0_1", "S3_1_C0_C0_0", "S3_1_C0_C0_1"):  # CTR_EL0, CCSIDR, CLIDR
        assert arm64(READ, register) == "sysreg_read"
    assert arm64(WRITE, "S3_2_C0_C0_0") == "sysreg_write"  # CSSELR


def test_an_arm64_guests_virtual_memory_is_its_own_once_its_caches_are_on() -> None:
    for register in ("S3_0_C1_C0_0", "S3_0_C2_C0_0", "S3_0_C2_C0_1", "S3_0_C2_C0_2", "S3_0_C10_C2_0", "S3_0_C13_C0_1"):
        assert arm64(WRITE, register, state=CACHES_OFF) == "sysreg_write"
        assert arm64(WRITE, register) == arm64(READ, register) == NO_EXIT
    for register in ("S1_0_C7_C6_2", "S1_0_C7_C10_2", "S1_0_C7_C14_2"):  # DC ISW, CSW, CISW
        assert arm64(WRITE, register) == "set_way"
    # DC CIVAC, IC IVAU, TLBI VMALLE1IS, AT S1E1R
    for register in ("S1_3_C7_C14_1", "S1_3_C7_C5_1", "S1_0_C8_C3_0", "S1_0_C7_C8_0"):
        assert arm64(WRITE, register) == NO_EXIT


def test_an_arm64_guests_interrupts_timers_and_monitors() -> None:
    assert arm64(WRITE, "S3_0_C12_C11_5") == "sgi"  # ICC_SGI1R
    for register in ("S3_0_C12_C12_0", "S3_0_C4_C6_0", "S3_0_C12_C12_5", "S3_3_C14_C3_2", "S3_3_C14_C2_1"):
        assert arm64(READ, register) == arm64(WRITE, register) == NO_EXIT  # IAR1, PMR, SRE, CNTV_CVAL, CNTP_CTL
    for register in ("S3_3_C9_C12_0", "S3_3_C14_C8_0", "S2_0_C1_C0_4", "S2_0_C0_C2_2", "S3_0_C1_C0_1"):
        assert arm64(WRITE, register) == "sysreg_write"  # PMCR, PMEVCNTR0, OSLAR, MDSCR, ACTLR
    assert arm64(WRITE, "S2_0_C0_C3_4") == NO_EXIT  # DBGBVR3
    assert arm64(READ, "S3_4_C15_C2_7") == "sysreg_read"  # of the implementation


def test_an_arm64_guests_devices_and_other_instructions() -> None:
    for address, wanted in {
        "8000000": "mmio_vgic", "8000f00": "sgi", "80a0100": "mmio_vgic", "8080000": "mmio_vgic",
        "8010000": NO_EXIT, "9000018": "mmio_vmm", "9010000": "mmio_vmm", "a003e50": "mmio_vmm", "8020008": "mmio_vmm",
        "4010000000": "mmio_vmm", "4000010000": "mmio_vgic",
    }.items():  # fmt: skip
        assert arm64(TrapKind.MMIO_WRITE, address) == wanted, address
    assert exit_of("arm64", TrapKind.WFI, machine="virt") == exit_of("arm64", TrapKind.WFI, 1, machine="virt")
    assert exit_of("arm64", TrapKind.WFI, machine="virt") == ("wfi", True)
    assert arm64(TrapKind.WFE) == NO_EXIT
    assert (arm64(TrapKind.HVC, "84000000"), arm64(TrapKind.SMC)) == ("hvc", "smc")


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_plugins_lines_say_the_same(rules: RuleSetName) -> None:
    """The first line that fits is the rule that decides, for every kind and the numbers at each rule's ends."""
    known = read_rule_set(rules)
    one = known.on(MACHINES[known.arch][0])
    lines = [line.split() for line in price_lines(one, dict.fromkeys(one.classes, 7))]
    assert all(len(words) == 8 and words[0] == "price" for words in lines)
    numbers = {edge for words in lines for edge in (int(words[3], 16), int(words[4], 16))}
    kinds = TRAPS_OF[one.arch]
    states = ((0, 0), (PGE, 0), (WP, 0), (0, CACHES_OFF))
    traps = [(kind, state, number, changes) for kind in kinds for number in numbers for changes, state in states]
    found = find_exits(one, np.array(traps, dtype=FIELDS))
    for (kind, state, number, changes), index in zip(traps, found.exit_class.tolist(), strict=True):
        told = next(
            (
                name
                for _, name, word, low, high, mask, wanted, _ in lines
                if word == kind.word
                and int(low, 16) <= number <= int(high, 16)
                and (mask == "0" or int(mask, 16) & changes)
                and (wanted == "0" or state)
            ),
            NO_EXIT,
        )
        assert told == (NO_EXIT if index < 0 else found.names[index])


@pytest.mark.parametrize("rules", RULE_SETS)
def test_every_rule_says_why_and_from_where(rules: RuleSetName) -> None:
    one = read_rule_set(rules)
    assert one.name == rules and one.not_followed
    assert all(len(rule.why) > 10 and len(rule.source) > 10 for rule in one.rules)
    assert one.proved is (rules == "svm") and ("unproved" in one.how) is (rules != "svm")


def test_a_rule_of_no_class_is_refused() -> None:
    rule = {"class": "pause", "traps": ["hlt"], "why": "because", "source": "nowhere"}
    document = {"name": "x", "arch": "x86_64", "words": "", "proved": False, "how": "", "not_followed": []}
    document["rule"] = [rule]
    with pytest.raises(ValueError, match="'pause' is no class of exit"):
        RuleSet.model_validate(document)
    with pytest.raises(ValueError, match="'halt' is no kind of trap"):
        RuleSet.model_validate({**document, "rule": [{**rule, "class": "hlt", "traps": ["halt"]}]})
    with pytest.raises(ValueError, match="'wfi' is no kind of trap"):
        RuleSet.model_validate({**document, "rule": [{**rule, "class": "hlt", "traps": ["wfi"]}]})
    with pytest.raises(ValueError, match="'hlt' is no class of exit: mmio_vmm"):
        RuleSet.model_validate({**document, "arch": "aarch64", "rule": [{**rule, "class": "hlt", "traps": ["wfi"]}]})
    with pytest.raises(ValueError, match="'virt' is no machine: q35"):
        RuleSet.model_validate({**document, "rule": [{**rule, "class": "hlt", "machines": ["virt"]}]})
    with pytest.raises(ValueError, match="registers C0 to C15"):
        Rule.model_validate({**rule, "numbers": ["S3_0_C16_C0_0"]})
