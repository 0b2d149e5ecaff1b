"""A machine that says what a test has it say: up to ready, through its check, and to its end."""

import asyncio
import socketserver
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bootlab.errors import Interrupted
from bootlab.measure.causes.ending import Ending
from bootlab.measure.following import follow
from bootlab.measure.guest.heard_console import HeardConsole
from bootlab.measure.observed_boot import ObservedBoot
from bootlab.measure.record import Outcome
from bootlab.snapshot.asked import Restored
from bootlab.snapshot.refusals import MemoryForm
from bootlab.system import Check, GuestScreen, PowerOn, PowerOnKind, Rootfs
from bootlab.targets.replay.playing import Play
from bootlab.targets.replay.target import ReplaySession
from bootlab.targets.target import ConsoleTraits, EndReason, OpenedMachine
from tests.measure.observing import observed, write_trace

READY = "bootlab: mark ready\n"
OVER_TCP = Check(console="bootlab: check ok", send="ping", expect="^pong")


def followed(seen: ObservedBoot, console: str, *, port: int | None = None, **how: Any) -> Ending:
    """Follow a machine that says `console`, each line in a read of its own; `how` it ends is a Play's."""
    lines = console.encode().splitlines(keepends=True)
    play = Play(tuple((number * 1_000, line) for number, line in enumerate(lines, 1)), None, **how)
    machine = OpenedMachine(ReplaySession(play), port)
    return asyncio.run(follow(seen, machine, lambda: False))


def test_without_a_check_ready_is_all(tmp_path: Path) -> None:
    seen = observed(tmp_path, check=None)
    assert followed(seen, READY + "more\n") == Ending(Outcome.READY)
    assert seen.heard.text == READY + "more\n"
    assert seen.heard.guest.marks == {"ready": 1_000}


def test_a_check_is_waited_for(tmp_path: Path) -> None:
    assert followed(observed(tmp_path), f"{READY}bootlab: check ok\n").outcome is Outcome.READY


@pytest.mark.parametrize(
    ("said", "detail"),
    [
        ("bootlab: check failed: no disk\n", "bootlab: check failed: no disk"),
        ("bootlab: check failed: in mid-line", "bootlab: check failed: in mid-line"),
        ("Kernel panic - not syncing: oops\n", "the guest panicked during its check: oops"),
        ("", "the guest ended (guest shutdown) during its check"),
    ],
)
def test_a_check_fails_in_its_own_words(said: str, detail: str, tmp_path: Path) -> None:
    ending = followed(observed(tmp_path), READY + said, end=EndReason.GUEST_SHUTDOWN)
    assert ending == Ending(Outcome.CHECK_FAILED, detail)


def test_a_check_that_fails_before_ready_ends_the_boot(tmp_path: Path) -> None:
    ending = followed(observed(tmp_path), "bootlab: check failed: no disk\n")
    assert ending.outcome is Outcome.CHECK_FAILED and ending.detail.startswith("before it was ready its check said")


def learning(tmp_path: Path, **update: Any) -> ObservedBoot:
    seen = observed(tmp_path)
    root = {"packages": ["systemd-sysv"], "filesystem": "ext4", "preload": {"record": True}}
    system = seen.system.model_copy(update={"rootfs": Rootfs.model_validate(root), **update})
    return replace(seen, prepared=replace(seen.prepared, system=system))


@pytest.mark.parametrize(
    ("said", "outcome", "detail"),
    [
        ("bootlab: fact preload.end 3\nbootlab: check ok\n", Outcome.READY, ""),
        (
            "bootlab: check ok\n",
            Outcome.CHECK_FAILED,
            "all else is well; bootlab-preload has printed no list of habits",
        ),
        (
            "bootlab: check failed: no disk\n",
            Outcome.CHECK_FAILED,
            "bootlab: check failed: no disk; bootlab-preload has",
        ),
    ],
)
def test_a_boot_that_was_to_learn_is_not_well_without(said: str, outcome: Outcome, detail: str, tmp_path: Path) -> None:
    ending = followed(learning(tmp_path), READY + said)
    assert ending.outcome is outcome and ending.detail.startswith(detail)


def test_who_goes_on_from_another_boot_has_learned_before(tmp_path: Path) -> None:
    seen, said = learning(tmp_path), f"{READY}bootlab: check ok\n"
    restored = Restored(tmp_path, MemoryForm.FILE, 5, None, None)
    clone = replace(seen, prepared=replace(seen.prepared, restored=restored))
    assert followed(clone, said).outcome is Outcome.READY


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [(PowerOnKind.HIBERNATED, Outcome.READY), (PowerOnKind.WARM_RESET, Outcome.CHECK_FAILED)],
)
def test_a_machine_that_resumes_has_learned_before(kind: PowerOnKind, outcome: Outcome, tmp_path: Path) -> None:
    seen = learning(tmp_path, power_on=PowerOn(kind=kind))
    assert followed(seen, f"{READY}bootlab: check ok\n").outcome is outcome


@pytest.mark.parametrize(
    ("check", "said", "outcome"),
    [
        # Of a disk that is hardly waited for a pack was printed before the desktop was ready.
        (
            r"bootlab: fact readahead\.end",
            "bootlab: fact readahead.1 a\nbootlab: fact readahead.end 1\n",
            Outcome.READY,
        ),
        (r"bootlab: fact preload\.end", "bootlab: fact readahead.end 1\n", Outcome.CHECK_FAILED),
        ("answer", "bootlab: fact answer 42\n", Outcome.CHECK_FAILED),
    ],
)
def test_a_fact_that_was_told_before_ready_stands(check: str, said: str, outcome: Outcome, tmp_path: Path) -> None:
    seen = observed(tmp_path, check=Check(console=check))
    assert followed(seen, said + READY).outcome is outcome


def test_a_last_line_without_an_end_counts(tmp_path: Path) -> None:
    """What a machine says as it ends has no line end where it ends in mid-line."""
    said = "bootlab: check failed: no disk"
    assert followed(observed(tmp_path), said, end=EndReason.GUEST_SHUTDOWN).outcome is Outcome.CHECK_FAILED


def test_a_trace_knows_of_a_mark_whose_line_never_came(tmp_path: Path) -> None:
    seen = observed(tmp_path, check=None)
    write_trace(seen, "guest ready 90 90")
    assert followed(seen, "", end=EndReason.STOPPED) == Ending(Outcome.READY)


def test_a_machine_that_died_was_not_ready_whatever_its_trace_says(tmp_path: Path) -> None:
    seen = observed(tmp_path, check=None)
    write_trace(seen, "guest ready 90 90")
    ending = followed(seen, "", end=EndReason.DIED, detail="killed")
    assert ending == Ending(Outcome.TARGET_DIED, "killed")


def test_a_check_by_mark_is_in_the_trace(tmp_path: Path) -> None:
    seen = observed(tmp_path, check={"mark": "works"})
    write_trace(seen, "guest ready 90 90", "guest works 95 95")
    assert followed(seen, READY, end=EndReason.STOPPED) == Ending(Outcome.READY)


def test_a_check_by_mark_whose_line_came_is_not_waited_for_long(tmp_path: Path) -> None:
    """A script writes the line itself, so no mark ends the machine: it goes on until half of the deadline is over."""
    seen = observed(tmp_path, check={"mark": "works", "deadline_s": 0.4})
    assert followed(seen, f"{READY}bootlab: mark works\n") == Ending(Outcome.READY)


def test_a_panic_is_told_when_its_machine_has_ended(tmp_path: Path) -> None:
    """And when it does not end, a second later."""
    seen = observed(tmp_path)
    ending = followed(seen, "Kernel panic - not syncing: oops\nStack:\n")
    assert ending.outcome is Outcome.PANICKED
    assert seen.heard.text.endswith("Stack:\n")


def test_a_prompt_is_ready_when_the_line_stays_silent(tmp_path: Path) -> None:
    seen = observed(tmp_path, booted={"console": "login:"}, check=None)
    assert followed(seen, "Debian\nlogin: ") == Ending(Outcome.READY)


@pytest.mark.parametrize("console", [f"{READY}Debian\nlogin: ", f"login: {READY}\nmyhost login: "])
def test_a_check_is_a_prompt_without_a_line_end(console: str, tmp_path: Path) -> None:
    seen = observed(tmp_path, check={"console": "login:", "deadline_s": 5})
    assert followed(seen, console) == Ending(Outcome.READY)


def test_a_check_of_another_prompt_is_not_passed(tmp_path: Path) -> None:
    seen = observed(tmp_path, check={"console": "login:", "deadline_s": 1})
    assert followed(seen, f"{READY}myhost# ").outcome is Outcome.CHECK_FAILED


@pytest.mark.parametrize("may_be_reset", [False, True])
def test_a_bootloader_that_gave_up_is_waited_for_where_a_watchdog_may_reset_it(
    may_be_reset: bool, tmp_path: Path
) -> None:
    seen = observed(tmp_path, check=None, traits=ConsoleTraits(may_be_reset=may_be_reset))
    ending = followed(seen, f"### ERROR ### Please RESET the board ###\n{'' if not may_be_reset else READY}")
    assert ending.outcome is (Outcome.READY if may_be_reset else Outcome.HUNG)


def test_a_deadline_that_passes_is_a_hang_and_the_machine_is_stopped_in_order(tmp_path: Path) -> None:
    seen = observed(tmp_path)
    ending = followed(seen, "hello\n", hangs=True)
    assert ending.outcome is Outcome.HUNG and "not ready after 60 s" in ending.detail


def test_nobody_waits_for_a_boot_that_was_cancelled(tmp_path: Path) -> None:
    machine = OpenedMachine(ReplaySession(Play((), None)))
    with pytest.raises(Interrupted):
        asyncio.run(follow(observed(tmp_path), machine, lambda: True))


def test_a_mark_of_the_screen_makes_a_system_ready_before_its_check_is_heard(tmp_path: Path) -> None:
    """Nothing on the console says so: what the trace has counts, ahead of the console's next words."""
    seen = observed(tmp_path, booted={"mark": "desk"})
    screen = GuestScreen.model_validate({"marks": {"desk": {"kind": "painted"}}})
    seen = replace(seen, prepared=replace(seen.prepared, system=seen.system.model_copy(update={"screen": screen})))
    ending = followed(seen, "bootlab: check ok\n", end=EndReason.GUEST_SHUTDOWN)
    assert ending.outcome is Outcome.NOT_READY
    seen = replace(seen, heard=HeardConsole(seen.prepared, None))
    write_trace(seen, "seen desk 5 5 00ff")
    assert followed(seen, "bootlab: check ok\n") == Ending(Outcome.READY)


class Answering(socketserver.BaseRequestHandler):
    """Says what its server was told to."""

    def handle(self) -> None:
        self.request.recv(64)
        self.request.sendall(self.server.answer)  # type: ignore[attr-defined]


@pytest.fixture
def port(request: pytest.FixtureRequest) -> Iterator[int]:
    """A port of this host where the fixture's parameter is the answer."""
    with socketserver.TCPServer(("127.0.0.1", 0), Answering) as server:
        server.answer = request.param  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.mark.parametrize(
    ("port", "ending"),
    [
        (b"pong", Ending(Outcome.READY)),
        (b"what?", Ending(Outcome.CHECK_FAILED, "TCP answer 'what?' does not match check.expect '^pong'")),
    ],
    indirect=["port"],
)
def test_an_answer_over_tcp_is_part_of_the_check(port: int, ending: Ending, tmp_path: Path) -> None:
    seen = observed(tmp_path)
    asks = seen.system.model_copy(update={"check": OVER_TCP})
    seen = replace(seen, prepared=replace(seen.prepared, system=asks))
    assert followed(seen, f"{READY}bootlab: check ok\n", port=port) == ending
