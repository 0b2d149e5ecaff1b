"""Proofs: what boots show, and that a log that was cut off shows nothing."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from bootlab.techniques.changes.kernel_options import off
from bootlab.techniques.model import proofs
from bootlab.techniques.model.evidence import Effect, Evidence
from bootlab.techniques.model.proofs import configured, initcalls_gone, line_appears

Make = Callable[..., Evidence]
VERSION = "Linux version 6.1.0"


def test_kernel_log_prefers_the_guests_own_and_orders_it_by_number() -> None:
    facts = {"dmesg.10": "[    0.2] last", "dmesg.2": "[    0.123456][    T1] first", "lsm": "yama"}
    assert proofs.kernel_log(facts, "[    0.000000] console") == ["first", "last"]


def test_kernel_log_falls_back_to_the_console() -> None:
    console = "SeaBIOS\r\n[    0.000000] Linux version 6.1\r\nhello\r\n<6>[    1.5][ C0] later\r\n"
    assert proofs.kernel_log({}, console) == ["Linux version 6.1", "later"]


@pytest.mark.parametrize(
    ("after", "before", "effect"),
    [
        ((VERSION, "audit: disabled"), (VERSION,), Effect.PROVEN),
        ((VERSION, "audit: disabled"), (VERSION, "audit: disabled"), Effect.NOT_SHOWN),
        ((VERSION,), (VERSION,), Effect.NONE),
        (("the log begins in the middle",), (VERSION,), Effect.NOT_SHOWN),
        ((), (VERSION,), Effect.NOT_SHOWN),
    ],
)
def test_line_appears(after: tuple[str, ...], before: tuple[str, ...], effect: Effect, evidence: Make) -> None:
    assert proofs.line_appears("audit: disabled").prove(evidence(*after), evidence(*before)) is effect


@pytest.mark.parametrize(
    ("after", "before", "effect"),
    [
        ((VERSION,), (VERSION, "i8042 AUX"), Effect.PROVEN),
        ((VERSION, "i8042 AUX"), (VERSION, "i8042 AUX"), Effect.NONE),
        ((), (VERSION, "i8042 AUX"), Effect.NOT_SHOWN),
        ((VERSION,), (VERSION,), Effect.NOT_SHOWN),
    ],
)
def test_line_vanishes(after: tuple[str, ...], before: tuple[str, ...], effect: Effect, evidence: Make) -> None:
    assert proofs.line_vanishes("i8042 AUX").prove(evidence(*after), evidence(*before)) is effect


def test_a_log_says_yes_no_or_nothing() -> None:
    whole, cut = {"dmesg.1": f"[    0.1] {VERSION}", "dmesg.2": "[    0.2] a"}, {"dmesg.9": "[    9.0] a"}
    assert proofs.log_says(whole, "", "^a$") is True and proofs.log_says(whole, "", "b") is False
    assert proofs.log_says(cut, "", "^a$") is True and proofs.log_says(cut, "", "b") is None


@pytest.mark.parametrize(
    ("after", "before", "effect"),
    [(0, 20, Effect.PROVEN), (5, 20, Effect.PROVEN), (12, 20, Effect.NOT_SHOWN), (20, 20, Effect.NONE)],
)
def test_a_console_that_falls_silent(after: int, before: int, effect: Effect, evidence: Make) -> None:
    def boot(lines: int) -> Evidence:
        return replace(evidence(), console="firmware\r\n" + "[    0.000001] line\r\n" * lines)

    prove = proofs.console_falls_silent().prove
    assert prove(boot(after), boot(before)) is effect
    assert prove(boot(0), boot(0)) is Effect.NOT_SHOWN


def test_line_changes(evidence: Make) -> None:
    prove = proofs.line_changes(r"entries: (\d+)").prove
    assert prove(evidence("entries: 4"), evidence("entries: 8")) is Effect.PROVEN
    assert prove(evidence("entries: 8"), evidence("entries: 8")) is Effect.NONE
    assert prove(evidence(), evidence("entries: 8")) is Effect.NOT_SHOWN


def test_never_runs(evidence: Make) -> None:
    prove = proofs.never_runs("timer_irq_works").prove
    ran, idle = evidence(ran=("timer_irq_works",)), evidence()
    assert prove(idle, ran) is Effect.PROVEN
    assert prove(ran, ran) is Effect.NONE
    assert prove(idle, idle) is Effect.NOT_SHOWN


@pytest.mark.parametrize(
    ("after", "before", "effect"),
    [
        ({"printk": "0 4 1 7"}, {"printk": "7 4 1 7"}, Effect.PROVEN),
        ({"printk": "7 4 1 7"}, {"printk": "7 4 1 7"}, Effect.NONE),
        ({"printk": "0 4 1 7"}, {"printk": "0 4 1 7"}, Effect.NOT_SHOWN),
        ({}, {"printk": "7 4 1 7"}, Effect.NOT_SHOWN),
    ],
)
def test_fact_is(after: dict[str, str], before: dict[str, str], effect: Effect, evidence: Make) -> None:
    assert proofs.fact_is("printk", r"^0\b").prove(evidence(**after), evidence(**before)) is effect


def test_facts_that_move(evidence: Make) -> None:
    few, many, silent = evidence(cpus_online="1"), evidence(cpus_online="2"), evidence()
    assert proofs.fact_falls("cpus_online").prove(few, many) is Effect.PROVEN
    assert proofs.fact_falls("cpus_online").prove(many, many) is Effect.NONE
    assert proofs.fact_falls("mem", to_percent=75).prove(evidence(mem="50"), evidence(mem="100")) is Effect.PROVEN
    assert proofs.fact_falls("mem", to_percent=75).prove(evidence(mem="90"), evidence(mem="100")) is Effect.NONE
    assert proofs.fact_rises("cpus_online").prove(many, few) is Effect.PROVEN
    assert proofs.fact_rises("cpus_online").prove(silent, few) is Effect.NOT_SHOWN
    assert proofs.fact_changes("cpus_online").prove(many, few) is Effect.PROVEN
    assert proofs.fact_changes("cpus_online").prove(few, few) is Effect.NONE


def test_archive_shrinks_reads_where_the_kernel_found_it(evidence: Make) -> None:
    large = evidence("RAMDISK: [mem 0x0feb3000-0x0ffcffff]")
    small = evidence("RAMDISK: [mem 0x0ff00000-0x0ffcffff]")
    assert proofs.archive_shrinks().prove(small, large) is Effect.PROVEN
    assert proofs.archive_shrinks().prove(large, small) is Effect.NONE
    freed_more, freed = evidence("Freeing initrd memory: 1140K"), evidence("Freeing initrd memory: 960K")
    assert proofs.archive_shrinks().prove(freed, freed_more) is Effect.PROVEN
    assert proofs.archive_shrinks().prove(freed, large) is Effect.NOT_SHOWN
    assert proofs.archive_shrinks().prove(evidence(), large) is Effect.NOT_SHOWN


def test_any_of_takes_the_first_that_shows_something(evidence: Make) -> None:
    prove = proofs.any_of(proofs.fact_is("acpi", "^no"), proofs.line_appears("Interpreter disabled")).prove
    assert prove(evidence(VERSION, "ACPI: Interpreter disabled."), evidence(VERSION)) is Effect.PROVEN
    assert prove(evidence(acpi="yes"), evidence(acpi="yes")) is Effect.NONE
    assert prove(evidence(), evidence()) is Effect.NOT_SHOWN


def test_pause_shrinks_by_the_kernels_own_stamps() -> None:
    def boot(stamp: str) -> Evidence:
        log = {"dmesg.1": "[    0.076159] ..TIMER: vector=0x30 apic1=0", "dmesg.2": f"[    {stamp}] clocksource: tsc"}
        return Evidence(log, {}, {}, "", None)

    prove = proofs.pause_shrinks("TIMER: vector").prove
    assert prove(boot("0.076300"), boot("0.087946")) is Effect.PROVEN
    assert prove(boot("0.087946"), boot("0.087946")) is Effect.NONE
    assert prove(boot("0.081000"), boot("0.087946")) is Effect.NOT_SHOWN
    assert prove(Evidence({}, {}, {}, "", None), boot("0.087946")) is Effect.NOT_SHOWN


def test_gap_shrinks_between_two_messages_that_others_lie_between() -> None:
    def boot(stamp: str) -> Evidence:
        lines = ["[    0.700000] scsi host0: usb-storage", "[    0.701000] other", f"[    {stamp}] scsi 0:0:0:0: Disk"]
        return Evidence({f"dmesg.{number}": line for number, line in enumerate(lines)}, {}, {}, "", None)

    prove = proofs.gap_shrinks("usb-storage", "scsi 0:0:").prove
    assert prove(boot("0.702000"), boot("1.702000")) is Effect.PROVEN
    assert prove(boot("1.702000"), boot("1.702000")) is Effect.NONE
    assert prove(boot("1.002000"), boot("1.702000")) is Effect.NOT_SHOWN
    assert proofs.gap_shrinks("scsi 0:0:", "usb-storage").prove(boot("1"), boot("1")) is Effect.NOT_SHOWN, "behind it"


@pytest.mark.parametrize(
    ("after", "before", "effect"),
    [
        ({"A": "y"}, {"A": "y", "SMP": "y"}, Effect.PROVEN),
        ({"A": "y", "SMP": "y"}, {"A": "y", "SMP": "y"}, Effect.NONE),
        ({"A": "y"}, {"A": "y"}, Effect.NOT_SHOWN),
        ({"A": "y"}, {}, Effect.NOT_SHOWN),
        ({}, {"SMP": "y"}, Effect.NOT_SHOWN),
    ],
)
def test_the_configuration_of_the_image_proves(
    after: dict[str, str], before: dict[str, str], effect: Effect, evidence: Make
) -> None:
    new, old = (replace(evidence(), kernel_config=config) for config in (after, before))
    assert configured(off("SMP")).prove(new, old) is effect


def test_a_boot_that_contradicts_overrules_its_configuration(evidence: Make) -> None:
    prove = configured(off("SMP"), line_appears("one CPU")).prove
    new = replace(evidence("Linux version 6.12"), kernel_config={"A": "y"})
    old = replace(evidence("Linux version 6.12"), kernel_config={"SMP": "y"})
    assert prove(new, old) is Effect.NONE
    said = replace(evidence("Linux version 6.12", "one CPU"), kernel_config={"A": "y"})
    assert prove(said, old) is Effect.PROVEN
    # A boot whose configuration is not known can still show it.
    assert prove(replace(said, kernel_config={}), old) is Effect.PROVEN


def test_initcalls_that_are_gone(evidence: Make) -> None:
    prove = initcalls_gone("inet6_init", "never_was").prove
    ran, other, silent = (
        replace(evidence(), initcalls_ns=found) for found in ({"inet6_init": 5, "x": 1}, {"x": 1}, {})
    )
    assert prove(other, ran) is Effect.PROVEN
    assert prove(ran, ran) is Effect.NONE
    assert prove(silent, ran) is Effect.NOT_SHOWN
    assert prove(other, other) is Effect.NOT_SHOWN


def test_a_proof_asks_for_what_it_looks_at(evidence: Make) -> None:
    assert proofs.never_runs("a", "b").watch == ("a", "b") and proofs.now_runs("c").watch == ("c",)
    several = proofs.any_of(proofs.never_runs("a", "b"), proofs.fact_is("acpi", "^no"), proofs.now_runs("b"))
    assert several.watch == ("a", "b")
    assert configured(off("SMP"), proofs.never_runs("a")).watch == proofs.if_shown(proofs.now_runs("a")).watch == ("a",)


def test_what_only_speaks_for_the_knob_never_speaks_against_it(evidence: Make) -> None:
    prove = proofs.if_shown(line_appears("mounted")).prove
    assert prove(evidence(VERSION, "mounted"), evidence(VERSION)) is Effect.PROVEN
    assert prove(evidence(VERSION), evidence(VERSION)) is Effect.NOT_SHOWN


@pytest.mark.parametrize(
    ("option", "value", "before", "after"),
    [
        ("MITIGATION_RETHUNK", "n", {"RETHUNK": "y"}, {"A": "y"}),
        ("BASE_SMALL", "y", {"BASE_FULL": "y", "BASE_SMALL": "0"}, {"BASE_SMALL": "1"}),
        ("CPU_MITIGATIONS", "n", {"SPECULATION_MITIGATIONS": "y"}, {"A": "y"}),
    ],
)
def test_an_older_kernels_configuration_proves_by_its_own_names(
    option: str, value: str, before: dict[str, str], after: dict[str, str], evidence: Make
) -> None:
    was, now = (replace(evidence(), kernel_config=config) for config in (before, after))
    assert configured({option: value}).prove(now, was) is Effect.PROVEN
    assert configured({option: value}).prove(was, was) is Effect.NONE


def test_more_of_the_cpus_vulnerabilities_are_open(evidence: Make) -> None:
    safe = evidence(**{"vulnerabilities.retbleed": "Mitigation: IBRS", "vulnerabilities.mds": "Not affected"})
    bare = evidence(**{"vulnerabilities.retbleed": "Vulnerable", "vulnerabilities.mds": "Not affected"})
    prove = proofs.more_is_vulnerable().prove
    assert (prove(bare, safe), prove(safe, safe), prove(evidence(), safe)) == (
        Effect.PROVEN,
        Effect.NONE,
        Effect.NOT_SHOWN,
    )
