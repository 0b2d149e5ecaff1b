"""What the guest says: marks, facts, panics and the check's result, from console lines."""

import pytest

from bootlab.measure.guest.console import GuestConsole
from bootlab.system import Booted, Check

BY_MARK = Booted(mark="ready")
CHECK = Check(console="bootlab: check ok")


def follow(lines: list[str], booted: Booted = BY_MARK, check: Check | None = CHECK) -> GuestConsole:
    guest = GuestConsole(booted, check)
    for number, line in enumerate(lines):
        guest.take(number * 1000, line)
    return guest


def test_marks_facts_and_check() -> None:
    guest = follow(
        [
            "[    0.000000] Linux version 6.1.0",
            "[    0.400000] Run /init as init process",
            "bootlab: mark ready",
            "bootlab: fact lsm capability,landlock",
            "bootlab: fact empty",
            "bootlab: check ok",
            "bootlab: check failed: too late to matter",
        ]
    )
    assert guest.ready
    assert guest.check_passed is True
    assert guest.marks == {"kernel_banner": 0, "init_exec": 1000, "ready": 2000}
    assert guest.facts == {"lsm": "capability,landlock", "empty": ""}


def test_a_mark_after_ready_passes_a_check_by_mark() -> None:
    check = Check(mark="works")
    assert follow(["bootlab: mark ready", "bootlab: check ok"], check=check).check_passed is None
    assert follow(["bootlab: mark ready", "bootlab: mark works"], check=check).check_passed is True
    early = follow(["bootlab: mark works", "bootlab: mark ready"], check=check)
    assert early.check_passed is False and early.check_detail == "mark works, which proves nothing before"
    assert follow(["bootlab: mark works"], check=check).failed_early


def test_what_a_bootloader_says_last_is_its_end() -> None:
    assert follow(["U-Boot SPL 2025.01", "### ERROR ### Please RESET the board ###"]).gave_up
    assert follow(["BdsDxe: No bootable option or device was found.\r"]).gave_up
    assert not follow(["U-Boot SPL 2025.01", "ERROR: reset the board"]).gave_up


def test_a_trace_says_itself_that_a_check_by_mark_has_passed() -> None:
    guest = GuestConsole(BY_MARK, Check(mark="works"), traced=True)
    for line in ("bootlab: mark ready", "bootlab: mark works"):
        guest.take(0, line)
    assert guest.ready and guest.check_passed is None
    # The program that is ready may have no console.
    ahead = GuestConsole(BY_MARK, Check(mark="works"), traced=True)
    ahead.take(0, "bootlab: mark works")
    assert ahead.check_passed is None


@pytest.mark.parametrize("keys", [{}, {"console": "ok", "mark": "ok"}, {"mark": "ok", "send": "a", "expect": "b"}])
def test_a_check_has_one_result(keys: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"exactly one of console|nothing can be sent"):
        Check.model_validate(keys)


def test_ready_by_pattern() -> None:
    guest = follow(["login is near", "debian login: "], Booted(console=r"login: ?$"), None)
    assert guest.ready
    assert guest.marks["ready"] == 1000


@pytest.mark.parametrize("pattern", [r"\[FAILED\] Failed", r"\x1b\[0;1;31mFAILED", "FAILED"])
def test_a_line_in_colours_is_found_with_them_and_without(pattern: str) -> None:
    said = GuestConsole(Booted(mark="ready"), Check(console="login:", fail=pattern))
    said.take(5, "[\x1b[0;1;31mFAILED\x1b[0m] Failed to start x.service.")
    assert said.check_passed is False
    waited = GuestConsole(Booted(console=pattern), None)
    waited.take(5, "[\x1b[0;1;31mFAILED\x1b[0m] Failed to start x.service.")
    assert waited.ready


def test_another_mark_is_not_ready() -> None:
    guest = follow(["bootlab: mark network", "bootlab: check ok"])
    assert not guest.ready
    assert guest.check_passed is None, "a check before ready is none"


def test_a_check_that_fails_before_ready_has_failed() -> None:
    guest = follow(["bootlab: mark network", "bootlab: check failed: no camera"])
    assert guest.failed_early and "no camera" in guest.check_detail
    late = follow(["bootlab: mark ready", "bootlab: check failed: no camera"])
    assert late.check_passed is False and not late.failed_early


def test_failed_check_says_why() -> None:
    guest = follow(["bootlab: mark ready", "bootlab: check failed: no /dev/vda"])
    assert guest.check_passed is False
    assert "no /dev/vda" in guest.check_detail


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[    1.2] Kernel panic - not syncing: VFS: Unable to mount root fs", "VFS: Unable to mount root fs"),
        ("Kernel panic - not syncing:", "no reason given"),
    ],
)
def test_panic(line: str, reason: str) -> None:
    guest = follow([line, "[    1.3] Kernel panic - not syncing: a second one"])
    assert guest.panic == reason


@pytest.mark.parametrize(
    ("check", "lines", "counts"),
    [
        (None, [], True),
        (None, ["bootlab: mark ready"], False),
        (CHECK, ["bootlab: mark ready"], True),
        (CHECK, ["bootlab: mark ready", "bootlab: check ok"], False),
        (CHECK, ["bootlab: check failed: early"], True),
    ],
)
def test_a_panic_counts_until_all_is_known(check: Check | None, lines: list[str], counts: bool) -> None:
    guest = follow([*lines, "Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000400"], check=check)
    assert (guest.panic is not None) == counts


def test_last_line_skips_blank_ones() -> None:
    guest = follow(["something", "   ", ""])
    assert (guest.last_line, guest.last_line_ns) == ("something", 0)


KERNEL = "[    3.446188] clocksource: Switched to clocksource tsc"


@pytest.mark.parametrize(
    "lines",
    [
        # As a PC's serial line had it.
        ["bootlab: mark ready" + KERNEL, "", "bootlab: check ok"],
        ["bootlab: mark re" + KERNEL, KERNEL, "ady", "bootlab: check ok"],
        ["bootlab: mark re" + KERNEL, "a" + KERNEL, "dy", "bootlab: check ok"],
        ["boot" + KERNEL, "lab: mark ready", "bootlab: check o" + KERNEL, "k"],
        ["bootlab: mark ready", "bootlab: check ok" + KERNEL, ""],
        # Its end never came.
        ["bootlab: mark ready" + KERNEL, "bootlab: check ok"],
    ],
)
def test_a_line_that_the_kernel_wrote_into_says_what_it_says(lines: list[str]) -> None:
    guest = follow(lines)
    assert guest.ready and guest.check_passed
    assert guest.marks == {"ready": 0}


def test_no_mark_is_made_of_half_a_name() -> None:
    guest = follow(["bootlab: mark re" + KERNEL, "ady", "bootlab: mark next" + KERNEL])
    assert guest.marks == {"ready": 0} and guest.last_line == KERNEL


def test_a_fact_may_hold_a_line_of_the_kernels() -> None:
    guest = follow([f"bootlab: fact dmesg.1 {KERNEL}", "bootlab: check failed: it said " + KERNEL])
    assert guest.facts == {"dmesg.1": KERNEL}
    assert guest.check_passed is False and guest.check_detail.endswith(KERNEL)
