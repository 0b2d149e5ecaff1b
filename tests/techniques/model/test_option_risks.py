"""What a kernel lost: protections by name, what goes with their ground, what stands in their place."""

from bootlab.techniques.model.option_risks import Loss, Protection, losses, protection_of, worst
from bootlab.techniques.model.technique import Risk

OFF = ("y", "n")


def lost(*options: str, after: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Return what of these options matters when all of them go, and `after` are on."""
    found = losses(dict.fromkeys(options, OFF), dict.fromkeys(after, "y"))
    return [(one.option, one.risk.value) for one in found]


def test_protections_come_first_and_parts_of_others_are_no_loss() -> None:
    assert lost("EXT4_FS", "HAVE_ACPI_APEI", "SECURITY_APPARMOR", "SYSFS") == [
        ("SECURITY_APPARMOR", "security"),
        ("EXT4_FS", "function"),
        ("SYSFS", "function"),
    ]
    assert losses({"BPF_LSM": OFF}, {}) == (Loss("BPF_LSM", Risk.SECURITY, "security modules"),)


def test_only_what_went_off_is_lost() -> None:
    assert losses({"SECURITY": ("n", "y"), "IPV6": ("m", "y"), "NR_CPUS": ("8192", "8")}, {"SECURITY": "y"}) == ()


def test_a_protection_without_its_ground_is_a_function_at_most() -> None:
    assert lost("MODULES", "MODULE_SIG") == [("MODULES", "function"), ("MODULE_SIG", "function")]
    assert ("MODULE_SIG", "security") in lost("MODULE_SIG", after=("MODULES",))
    # Rules of the family inet are of both protocols: IPv4's go with them.
    kept = {"NET": "y", "INET": "y"}
    found = losses({"IPV6": OFF, "IP6_NF_FILTER": OFF, "NF_TABLES_INET": OFF}, kept)
    assert [(one.option, one.risk.value) for one in found] == [
        ("NF_TABLES_INET", "security"),
        ("IP6_NF_FILTER", "function"),
        ("IPV6", "function"),
    ]
    assert lost("MITIGATION_VMSCAPE", "KVM")[0] == ("KVM", "function")


def test_what_another_mitigation_does_and_what_only_reports() -> None:
    assert lost("MITIGATION_CALL_DEPTH_TRACKING") == []
    assert lost("DEBUG_WX", "BUG") == [("BUG", "function"), ("DEBUG_WX", "function")]
    assert lost("MITIGATION_RETPOLINE") == [("MITIGATION_RETPOLINE", "security")]


def test_what_stands_in_the_place_of_a_protection() -> None:
    found = losses({"INIT_STACK_NONE": ("n", "y")}, {"INIT_STACK_NONE": "y"})
    assert found == (Loss("INIT_STACK_NONE", Risk.SECURITY, "in the place of a protection"),)


def test_a_value_that_protects_less_is_a_loss() -> None:
    after = {"LSM": "landlock", "DEFAULT_MMAP_MIN_ADDR": "4096"}
    less = {"LSM": ("landlock,apparmor", "landlock"), "DEFAULT_MMAP_MIN_ADDR": ("65536", "4096")}
    assert [(one.option, one.risk) for one in losses(less, after)] == [
        ("DEFAULT_MMAP_MIN_ADDR", Risk.SECURITY),
        ("LSM", Risk.SECURITY),
    ]
    more = {"LSM": ("landlock", "apparmor,landlock"), "DEFAULT_MMAP_MIN_ADDR": ("4096", "65536")}
    assert losses(more, after) == ()


def test_what_protects_on_arm_and_by_gcc_is_known() -> None:
    for option in (
        "ARM64_SW_TTBR0_PAN", "CPU_SW_DOMAIN_PAN", "HARDEN_BRANCH_PREDICTOR", "GCC_PLUGIN_STACKLEAK", "KSTACK_ERASE",
        "RANDSTRUCT_FULL", "UBSAN_BOUNDS",
    ):  # fmt: skip
        assert lost(option) == [(option, "security")], option
    assert lost("SYN_COOKIES", after=("INET",)) == [("SYN_COOKIES", "security")]
    assert lost("PROC_MEM_NO_FORCE", after=("PROC_FS",)) == [("PROC_MEM_NO_FORCE", "security")]
    assert losses({"DEVMEM": ("n", "y")}, {"DEVMEM": "y"})[0].risk is Risk.SECURITY


def test_an_option_by_another_name_goes_on() -> None:
    assert lost("RETPOLINE", after=("MITIGATION_RETPOLINE",)) == []
    assert lost("RETPOLINE") == [("RETPOLINE", "security")]


def test_groups_are_told_by_name() -> None:
    assert protection_of("CPU_MITIGATIONS") is Protection.MITIGATIONS
    assert protection_of("STACKPROTECTOR_STRONG") is Protection.HARDENING
    assert protection_of("AUDIT") is Protection.ACCESS
    assert protection_of("MODULE_SIG_SHA256") is Protection.SIGNING
    assert protection_of("EXT4_FS") is None


def test_the_worst() -> None:
    assert worst(()) is Risk.NONE
    assert worst((Risk.NONE, Risk.SECURITY, Risk.FUNCTION)) is Risk.SECURITY
