"""What a configuration names and the tree does not know, and what of it is told."""

from bootlab.build.source.config_text import named_options
from bootlab.build.source.unknown_options import UnknownOption, find_unknown, remarks, told

CONFIG = """# made for an older kernel
CONFIG_SMP=y
# CONFIG_SPECULATION_MITIGATIONS is not set
CONFIG_RETPOLINE=y
CONFIG_CRYPTO_MANAGER_DISABLE_TESTS=y
CONFIG_FORCE_MAX_ZONEORDER=11
CONFIG_HAVE_KVM=y
# CONFIG_SLAB_DEPRECATED is not set
"""
KINDS = {
    "SMP": "bool",
    "CPU_MITIGATIONS": "bool",
    "MITIGATION_RETPOLINE": "bool",
    "CRYPTO_SELFTESTS": "bool",
    "ARCH_FORCE_MAX_ORDER": "int",
}
GOT = {"SMP": "y", "CPU_MITIGATIONS": "y", "MITIGATION_RETPOLINE": "y", "ARCH_FORCE_MAX_ORDER": "10"}


def unknown() -> tuple[UnknownOption, ...]:
    """Return what of CONFIG the tree with KINDS does not know."""
    return find_unknown(named_options(CONFIG, "old.config"), KINDS, GOT, renames=True)


def test_each_has_its_place_and_its_new_name() -> None:
    found = {one.option: one for one in unknown()}
    assert list(found) == [
        *("SPECULATION_MITIGATIONS", "RETPOLINE", "CRYPTO_MANAGER_DISABLE_TESTS", "FORCE_MAX_ZONEORDER"),
        *("HAVE_KVM", "SLAB_DEPRECATED"),
    ]
    assert found["SPECULATION_MITIGATIONS"] == UnknownOption(
        *("SPECULATION_MITIGATIONS", "n", "old.config:3", "CPU_MITIGATIONS", "6.9", "fe42754b94a4", "n", "y")
    )
    assert found["HAVE_KVM"] == UnknownOption("HAVE_KVM", "y", "old.config:7")
    # As asked by the old name, whoever saw to it; and asked the other way round.
    assert not found["RETPOLINE"].is_lost
    assert (found["CRYPTO_MANAGER_DISABLE_TESTS"].wanted, found["CRYPTO_MANAGER_DISABLE_TESTS"].is_lost) == ("n", False)
    assert [one.option for one in unknown() if one.is_lost] == ["SPECULATION_MITIGATIONS", "FORCE_MAX_ZONEORDER"]


def test_the_renames_are_those_of_linux_alone() -> None:
    found = find_unknown(named_options(CONFIG, "old.config"), KINDS, GOT, renames=False)
    assert all(one.renamed is None and not one.is_lost for one in found)


def test_what_was_lost_is_told_one_by_one_and_the_rest_counted() -> None:
    assert told(unknown(), "kernel.build.config", "Linux 6.12.107") == (
        "kernel.build.config: Linux 6.12.107 does not know 6 options: 2 renamed and lost, 2 renamed but as asked, "
        "1 set, 1 not set anyway",
        "old.config:3: SPECULATION_MITIGATIONS=n is lost: since Linux 6.9 the option is CPU_MITIGATIONS, and here that "
        "is y; kernel.build.options: CPU_MITIGATIONS=n asks for it",
        "old.config:6: FORCE_MAX_ZONEORDER=11 is lost: since Linux 6.1 the option is ARCH_FORCE_MAX_ORDER, and here "
        "that is 10; kernel.build.options: ARCH_FORCE_MAX_ORDER=11 asks for it",
        "set and unknown: HAVE_KVM=y (old.config:7)",
    )
    assert told((), "kernel.build.config", "Linux 6.12.107") == ()
    many = find_unknown(
        named_options("".join(f"CONFIG_X{number}=y\n" for number in range(300)), "c"), {}, {}, renames=True
    )
    first, last = told(many, "kernel.build.base", "Linux 6.12.107")
    assert first.endswith("does not know 300 options: 300 set")
    assert last.endswith("X4=y (c:5) and 295 more")


def test_a_boot_is_remarked_on_where_something_was_lost() -> None:
    assert remarks(unknown(), "Linux 6.12.107") == (
        "the kernel's configuration asks Linux 6.12.107 for options by names that it does not know: "
        "SPECULATION_MITIGATIONS=n (CPU_MITIGATIONS since 6.9, here y), FORCE_MAX_ZONEORDER=11 (ARCH_FORCE_MAX_ORDER "
        "since 6.1, here 10)",
    )
    assert remarks([one for one in unknown() if not one.is_lost], "Linux 6.12.107") == ()
