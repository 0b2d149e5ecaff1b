"""A boot's price: its two figures stay apart, its phases add up, and what a shape has too much is taken off."""

from dataclasses import replace

from bootlab.measure.price import counted_view, price_record, priced_phases, priced_view
from bootlab.measure.record import BootRecord, PhaseRecord
from bootlab.price.host_model import read_host_model
from bootlab.price.shape_corrections import FIRMWARE, WITHOUT_XEN, XEN
from bootlab.profile.recorded.trace import Charge, PluginTrace, Stamp
from bootlab.sources import PATCHES
from bootlab.system import System
from bootlab.timeline import marks as m
from tests.report.priced import priced_boot

SYSTEM = System.model_validate(
    {
        "name": "one",
        "machine": {"type": "microvm"},
        "kernel": {"image": "vmlinux", "entry": "pvh"},
        "booted": {"mark": "ready"},
        "clock": {"host_model": "lean"},
    }
)
MARKS = {"kernel_entry": Stamp(1_600, 1_001, 599), "start_kernel": Stamp(900_000, 2_000, 897_000)}
READY = Stamp(2_000_000, 10_000, 1_890_000)
TRACE = PluginTrace(shift=0, marks=MARKS, guest_marks={"ready": READY})
PHASES = [
    PhaseRecord(name=name, start=start, end=end, start_ns=0, duration_ns=1)
    for name, start, end in (
        ("firmware", "power_on", "kernel_entry"),
        ("kernel head", "kernel_entry", "start_kernel"),
        ("rest", "start_kernel", "ready"),
    )
]


def test_the_price_is_instructions_at_the_models_rate_with_idle_time_and_what_was_charged() -> None:
    price = price_record(SYSTEM, TRACE, READY)
    assert price is not None and price.model == "lean" and price.memory == "4K"
    assert (price.instructions_ns, price.idle_ns, price.charged_ns) == (3_300, 100_000, 1_890_000)
    assert price.total_ns == 1_993_300 and not price.corrections
    phases = priced_phases(PHASES, SYSTEM, TRACE, READY)
    assert sum(one.price_ns or 0 for one in phases) == price.total_ns
    assert sum(one.charged_ns for one in phases) == price.charged_ns


def test_huge_pages_of_the_machine_are_what_the_price_says() -> None:
    price = price_record(SYSTEM.with_part("machine", page_size="2M"), TRACE, READY)
    assert price is not None and price.memory == "2M"


def test_what_was_not_charged_has_no_price() -> None:
    assert price_record(SYSTEM.with_part("clock", host_model=None), TRACE, READY) is None
    assert price_record(SYSTEM, TRACE, None) is None and price_record(SYSTEM, None, None) is None
    refused = replace(TRACE, refused={"traps": "no such offset"})
    assert price_record(SYSTEM, refused, READY) is None
    assert priced_phases(PHASES, SYSTEM, refused, READY) == PHASES


def test_a_shape_has_its_firmware_and_its_entry_taken_off_where_they_are() -> None:
    shaped = System.model_validate({**dict(SYSTEM), "machine": {"shape": "firecracker"}})
    by_entry = {
        m.KERNEL_ENTRY: {"pio_vmm": Charge(80, 200_000), "cr": Charge(2, 1_600), "fault_4K": Charge(14, 20_440)}
    }
    trace = replace(TRACE, charges_at_marks=by_entry)
    price, plain = price_record(shaped, trace, READY), price_record(SYSTEM, trace, READY)
    assert price is not None and plain is not None
    firmware_ns = 599 + round(1_001 * 0.33)
    assert price.corrections == {FIRMWARE: -firmware_ns, XEN: -256 * read_host_model("lean").exit["cpuid"].ns}
    assert price.total_ns == plain.total_ns + sum(price.corrections.values())
    # Pages are no exits.
    assert (price.corrected_exits, plain.corrected_exits) == (80 + 2 + 256, 0)
    phases = priced_phases(PHASES, shaped, TRACE, READY)
    assert phases[0].price_ns == 0 and sum(one.price_ns or 0 for one in phases) == price.total_ns


def test_a_kernel_that_does_not_look_for_xen_has_nothing_taken_off_for_it() -> None:
    build = {"package": "linux-source-6.12", "patches": (PATCHES / "linux" / WITHOUT_XEN,)}
    shaped = {"machine": {"shape": "firecracker"}, "kernel": {"build": build, "entry": "pvh"}}
    price = price_record(System.model_validate({**dict(SYSTEM), **shaped}), TRACE, READY)
    assert price is not None and price.corrections.keys() == {FIRMWARE}
    assert (PATCHES / "linux" / WITHOUT_XEN).is_file()


def test_each_view_has_one_figure_only_and_its_phases_add_up() -> None:
    boot = priced_boot()
    assert boot.price is not None
    for view, whole_ns in ((counted_view(boot), boot.counted_ns), (priced_view(boot), boot.price.total_ns)):
        assert view.ready_ns == whole_ns == sum(one.duration_ns for one in view.phases)
        assert not view.charges and view.price is None
    assert boot.judged_ns == boot.total_ns == boot.price.total_ns
    assert (boot.counted_ns or 0) + boot.charged_ns == boot.ready_ns
    assert BootRecord.model_validate_json(boot.model_dump_json(by_alias=True)) == boot
