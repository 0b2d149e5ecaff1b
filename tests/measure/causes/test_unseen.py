"""What a screen was still looked at for, from the trace of a boot that was not ready."""

from pathlib import Path

from bootlab.measure.causes.ending import explain_overdue
from bootlab.measure.causes.unseen import find_unseen
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


def test_of_a_screen_that_was_not_looked_at_nothing_is_said(tmp_path: Path) -> None:
    seen = observed(tmp_path, screen=SCREEN)
    assert find_unseen(seen.system, seen.trace()) is None
    write_trace(seen, "refused screen this QEMU knows no key 'nokey'")
    assert find_unseen(seen.system, seen.trace()) is None
    write_trace(seen, "exact screen", *(f"seen {mark} 1500000 1500000 ff" for mark in SCREEN["marks"]))
    assert find_unseen(seen.system, seen.trace()) is None
