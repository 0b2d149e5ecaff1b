"""What a screen was still looked at for, from the trace of a boot that was not ready."""

from pathlib import Path

from bootlab.measure.causes.ending import explain_overdue
from bootlab.measure.causes.unseen import find_unseen, screen_remarks
from bootlab.measure.observed_boot import ObservedBoot
from bootlab.measure.record import PictureRecord
from tests.measure.observing import observed, write_trace

SCREEN = {
    "marks": {
        "login": {"kind": "painted"},
        "desk": {"kind": "idle", "after": "password"},
        "printed": {"kind": "painted", "after": "desk"},
    },
    "typed": {"password": {"text": "secret", "after": "login"}},
}


def test_a_mark_that_never_came_is_named_with_the_moment_from_which_it_was_awaited(tmp_path: Path) -> None:
    seen = observed(tmp_path, screen=SCREEN)
    write_trace(seen, "exact screen", "seen login 1500000 1500000 ff", "typed password 2500000 2500000")
    assert find_unseen(seen.system, seen.trace()) == "its screen has not shown desk since password at 2.500 ms"
    assert explain_overdue(seen, 0.0).detail.endswith("; its screen has not shown desk since password at 2.500 ms")


def test_a_screen_that_was_never_painted(tmp_path: Path) -> None:
    seen = observed(tmp_path, screen=SCREEN)
    write_trace(seen, "exact screen")
    assert find_unseen(seen.system, seen.trace()) == "its screen has not shown login since power-on"


def test_a_mark_that_nobody_made_is_named_with_what_would_have_come_behind_it(tmp_path: Path) -> None:
    """A name that is written wrong, say: nothing of the screen was looked for."""
    typed = {"password": {"text": "secret", "after": "login"}, "escape": {"keys": ["esc"], "after": "splahs"}}
    marks = {**SCREEN["marks"], "login": {"kind": "painted", "after": "splahs"}}
    seen = observed(tmp_path, screen={"marks": marks, "typed": typed})
    write_trace(seen, "exact screen", "guest splash 1500000 1500000")
    said = "there was no mark splahs, behind which login, escape would have come"
    assert find_unseen(seen.system, seen.trace()) == said


def pictures(*sizes: tuple[int, int]) -> list[PictureRecord]:
    return [PictureRecord(mark=None, t_ns=1, width=w, height=h, pixels_sha256="", file="") for w, h in sizes]


def remarks(seen: ObservedBoot, config: str, pictures: list[PictureRecord]) -> list[str]:
    trace = seen.trace()
    assert trace is not None
    return list(screen_remarks(config, trace, pictures))


def test_a_region_that_is_not_on_the_screen_is_named(tmp_path: Path) -> None:
    seen = observed(tmp_path, screen=SCREEN)
    write_trace(seen, "exact screen", "seen login 1500000 1500000 ff")
    config = "painted desk -\nregion desk 600 390 120 11\nregion login 0 0 9000 9000\n"
    said = "screen.marks.desk: its region, 120 x 11 at 600, 390, is not on the screen: it was 640 x 480, 720 x 400"
    assert remarks(seen, config, pictures((720, 400), (640, 480), (720, 400))) == [said]
    # On the screen once, and of a boot without pictures nobody knows.
    assert remarks(seen, config, pictures((720, 400), (1024, 768))) == []
    assert remarks(seen, config, []) == []


def test_a_mark_of_the_screen_that_the_guest_makes_as_well_is_named(tmp_path: Path) -> None:
    seen = observed(tmp_path, screen=SCREEN)
    config = "painted login - 1 2\n"
    lines = ["guest own 1000000 1000000", "guest own 1200000 1200000", "guest login 1500000 1500000"]
    write_trace(seen, "exact screen", *lines)
    assert remarks(seen, config, []) == []
    write_trace(seen, "exact screen", *lines, "seen login 1600000 1600000 ff")
    said = "login: a mark of the screen, and the guest makes one of this name, too: the first of both counts"
    assert remarks(seen, config, []) == [said]


def test_of_a_screen_that_was_not_looked_at_nothing_is_said(tmp_path: Path) -> None:
    seen = observed(tmp_path, screen=SCREEN)
    assert find_unseen(seen.system, seen.trace()) is None
    write_trace(seen, "refused screen this QEMU knows no key 'nokey'")
    assert find_unseen(seen.system, seen.trace()) is None
    write_trace(seen, "exact screen", *(f"seen {mark} 1500000 1500000 ff" for mark in SCREEN["marks"]))
    assert find_unseen(seen.system, seen.trace()) is None
