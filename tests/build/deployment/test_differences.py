"""What differs between two systems, as a system file spells it."""

from bootlab.build.deployment.differences import differences
from bootlab.sources import EXAMPLES
from bootlab.system import read_system

CLOUD = read_system(EXAMPLES / "debian-cloud.toml")


def test_equal_systems_differ_in_nothing_and_names_do_not_count() -> None:
    assert differences(CLOUD, CLOUD) == {}
    assert differences(CLOUD, CLOUD.with_seed(7).model_copy(update={"name": "other", "description": "x"})) == {}


def test_tables_are_looked_into_and_whole_parts_are_one_difference() -> None:
    changed = CLOUD.with_cmdline("quiet").with_part("machine", memory_mib=128, options={"acpi": "off"})
    found = differences(CLOUD, changed.model_copy(update={"network": None}))
    assert list(found) == ["machine.memory_mib", "machine.options.acpi", "kernel.cmdline", "network"]
    assert found["machine.memory_mib"].words == "256 -> 128"
    assert found["machine.options.acpi"].words == "none -> off"
    assert found["network"].words == "a whole part -> none"
