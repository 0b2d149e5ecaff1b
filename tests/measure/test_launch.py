"""A boot from its VMM's start to ready, in parts; boots without one have none."""

from bootlab.measure.launch import WHOLE, boot_parts, whole_ns
from bootlab.measure.record import BootRecord, LaunchRecord, Outcome, VmmRecord
from tests.cli.recorded_runs import boots


def launched(record: BootRecord, *steps: tuple[str, int]) -> BootRecord:
    """Return a boot whose VMM took these steps, in ns."""
    launch = [LaunchRecord(name=name, duration_ns=ns) for name, ns in steps]
    return record.model_copy(update={"vmm": VmmRecord(name="Firecracker", version="1.15.1", launch=launch)})


def test_the_parts_of_each_boot_add_up_to_the_whole() -> None:
    series = [launched(one, ("VMM start", 10), ("VM creation", 5)) for one in boots("series-before.json")]
    parts = boot_parts(series)
    assert [part.name for part in parts][:2] == ["VMM start", "VM creation"] and parts[-1].name == WHOLE
    assert [part.of_vmm for part in parts][:3] == [True, True, False]
    for index, record in enumerate(series):
        assert whole_ns(record) == 15 + (record.ready_ns or 0) == parts[-1].times_ns[index]
        assert sum(part.times_ns[index] for part in parts[:-1]) == parts[-1].times_ns[index]


def test_boots_without_a_vmm_and_those_not_ready_have_no_parts() -> None:
    record = boots("series-before.json")[0]
    assert whole_ns(record) is None and boot_parts([record]) == []
    hung = launched(record, ("VMM start", 10)).model_copy(update={"outcome": Outcome.HUNG})
    assert whole_ns(hung) is None and boot_parts([hung]) == []
