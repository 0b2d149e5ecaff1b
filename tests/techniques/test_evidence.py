"""Proofs: what boots show, and that a log that was cut off shows nothing."""

from collections.abc import Callable

import pytest

from bootlab.techniques import evidence as proofs
from bootlab.techniques.technique import Evidence, Proof

Make = Callable[..., Evidence]
VERSION = "Linux version 6.1.0"


def test_kernel_log_prefers_the_guests_own_and_orders_it_by_number() -> None:
    facts = {"dmesg.10": "[    0.2] last", "dmesg.2": "[    0.123456][    T1] first", "lsm": "yama"}
    assert proofs.kernel_log(facts, "[    0.000000] console") == ["first", "last"]


def test_kernel_log_falls_back_to_the_console() -> None:
    console = "SeaBIOS\r\n[    0.000000] Linux version 6.1\r\nhello\r\n<6>[    1.5][ C0] later\r\n"
    assert proofs.kernel_log({}, console) == ["Linux version 6.1", "later"]


@pytest.mark.parametrize(
    ("after", "before", "proof"),
    [
        ((VERSION, "audit: disabled"), (VERSION,), Proof.PROVEN),
        ((VERSION, "audit: disabled"), (VERSION, "audit: disabled"), Proof.NOT_SHOWN),
        ((VERSION,), (VERSION,), Proof.NO_EFFECT),
        (("the log begins in the middle",), (VERSION,), Proof.NOT_SHOWN),
        ((), (VERSION,), Proof.NOT_SHOWN),
    ],
)
def test_line_appears(after: tuple[str, ...], before: tuple[str, ...], proof: Proof, evidence: Make) -> None:
    assert proofs.line_appears("audit: disabled")(evidence(*after), evidence(*before)) is proof


@pytest.mark.parametrize(
    ("after", "before", "proof"),
    [
        ((VERSION,), (VERSION, "i8042 AUX"), Proof.PROVEN),
        ((VERSION, "i8042 AUX"), (VERSION, "i8042 AUX"), Proof.NO_EFFECT),
        ((), (VERSION, "i8042 AUX"), Proof.NOT_SHOWN),
        ((VERSION,), (VERSION,), Proof.NOT_SHOWN),
    ],
)
def test_line_vanishes(after: tuple[str, ...], before: tuple[str, ...], proof: Proof, evidence: Make) -> None:
    assert proofs.line_vanishes("i8042 AUX")(evidence(*after), evidence(*before)) is proof


def test_line_changes(evidence: Make) -> None:
    prove = proofs.line_changes(r"entries: (\d+)")
    assert prove(evidence("entries: 4"), evidence("entries: 8")) is Proof.PROVEN
    assert prove(evidence("entries: 8"), evidence("entries: 8")) is Proof.NO_EFFECT
    assert prove(evidence(), evidence("entries: 8")) is Proof.NOT_SHOWN


def test_never_runs(evidence: Make) -> None:
    prove = proofs.never_runs("timer_irq_works")
    ran, idle = evidence(ran=("timer_irq_works",)), evidence()
    assert prove(idle, ran) is Proof.PROVEN
    assert prove(ran, ran) is Proof.NO_EFFECT
    assert prove(idle, idle) is Proof.NOT_SHOWN


@pytest.mark.parametrize(
    ("after", "before", "proof"),
    [
        ({"printk": "0 4 1 7"}, {"printk": "7 4 1 7"}, Proof.PROVEN),
        ({"printk": "7 4 1 7"}, {"printk": "7 4 1 7"}, Proof.NO_EFFECT),
        ({"printk": "0 4 1 7"}, {"printk": "0 4 1 7"}, Proof.NOT_SHOWN),
        ({}, {"printk": "7 4 1 7"}, Proof.NOT_SHOWN),
    ],
)
def test_fact_is(after: dict[str, str], before: dict[str, str], proof: Proof, evidence: Make) -> None:
    assert proofs.fact_is("printk", r"^0\b")(evidence(**after), evidence(**before)) is proof


def test_facts_that_move(evidence: Make) -> None:
    few, many, silent = evidence(cpus_online="1"), evidence(cpus_online="2"), evidence()
    assert proofs.fact_falls("cpus_online")(few, many) is Proof.PROVEN
    assert proofs.fact_falls("cpus_online")(many, many) is Proof.NO_EFFECT
    assert proofs.fact_falls("mem", to_percent=75)(evidence(mem="50"), evidence(mem="100")) is Proof.PROVEN
    assert proofs.fact_falls("mem", to_percent=75)(evidence(mem="90"), evidence(mem="100")) is Proof.NO_EFFECT
    assert proofs.fact_rises("cpus_online")(many, few) is Proof.PROVEN
    assert proofs.fact_rises("cpus_online")(silent, few) is Proof.NOT_SHOWN
    assert proofs.fact_changes("cpus_online")(many, few) is Proof.PROVEN
    assert proofs.fact_changes("cpus_online")(few, few) is Proof.NO_EFFECT


def test_archive_shrinks_reads_where_the_kernel_found_it(evidence: Make) -> None:
    large = evidence("RAMDISK: [mem 0x0feb3000-0x0ffcffff]")
    small = evidence("RAMDISK: [mem 0x0ff00000-0x0ffcffff]")
    assert proofs.archive_shrinks(small, large) is Proof.PROVEN
    assert proofs.archive_shrinks(large, small) is Proof.NO_EFFECT
    freed_more, freed = evidence("Freeing initrd memory: 1140K"), evidence("Freeing initrd memory: 960K")
    assert proofs.archive_shrinks(freed, freed_more) is Proof.PROVEN
    assert proofs.archive_shrinks(freed, large) is Proof.NOT_SHOWN
    assert proofs.archive_shrinks(evidence(), large) is Proof.NOT_SHOWN


def test_any_of_takes_the_first_that_shows_something(evidence: Make) -> None:
    prove = proofs.any_of(proofs.fact_is("acpi", "^no"), proofs.line_appears("Interpreter disabled"))
    assert prove(evidence(VERSION, "ACPI: Interpreter disabled."), evidence(VERSION)) is Proof.PROVEN
    assert prove(evidence(acpi="yes"), evidence(acpi="yes")) is Proof.NO_EFFECT
    assert prove(evidence(), evidence()) is Proof.NOT_SHOWN


def test_pause_shrinks_by_the_kernels_own_stamps() -> None:
    def boot(stamp: str) -> Evidence:
        log = {"dmesg.1": "[    0.076159] ..TIMER: vector=0x30 apic1=0", "dmesg.2": f"[    {stamp}] clocksource: tsc"}
        return Evidence(log, {}, {}, "", None)

    prove = proofs.pause_shrinks("TIMER: vector")
    assert prove(boot("0.076300"), boot("0.087946")) is Proof.PROVEN
    assert prove(boot("0.087946"), boot("0.087946")) is Proof.NO_EFFECT
    assert prove(boot("0.081000"), boot("0.087946")) is Proof.NOT_SHOWN
    assert prove(Evidence({}, {}, {}, "", None), boot("0.087946")) is Proof.NOT_SHOWN
