"""bootlab-init while its own system calls fail and its files are damaged: it stays alive, recovers, and shuts down."""

import os
import platform
import random
import socket
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.programs import guest
from bootlab.build.programs.static_program import compile_static
from tests.boot.init.namespace import InitNamespace
from tests.boot.init.unruly_units import BEHAVIOURS

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a PID namespace of its own"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="sets registers of this CPU"),
]
UNITS = Path(__file__).parent / "units"
EVERY = 20
"""One of so many system calls fails."""
SHUTDOWN_S = 10


@pytest.fixture(scope="module")
def programs() -> dict[str, Path]:
    cache, arch = Cache.default(), platform.machine()
    return {**guest.compile_runtime(arch, cache), "/bin/worker": compile_static(UNITS / "worker.c", arch, cache)}


@pytest.fixture(scope="module")
def faults() -> Path:
    return compile_static(UNITS / "faults.c", platform.machine(), Cache.default())


def expect_survival(init: InitNamespace) -> None:
    """It still does its work: a unit can be restarted, nothing piles up, and the end comes in time."""
    assert init.is_alive, init.console()[-2000:]
    assert "has crashed" not in init.console()
    assert init.ask("restart good") == "ok\n"
    init.until(lambda: init.states()["good"] == "up")
    # The standard streams, epoll, console and control, and two to three of each unit that is on its way.
    init.until(lambda: init.descriptors() <= 3 + 4 + 3 * len(BEHAVIOURS))
    assert init.shut_down(SHUTDOWN_S * 3) < SHUTDOWN_S + 2


def fail_calls(root: Path, programs: dict[str, Path], faults: Path, count: int, seed: int) -> dict[str, int]:
    """Let `count` system calls of PID 1 fail while its units are restarted; gives how many of each did."""
    dice = random.Random(seed)
    with InitNamespace(root, programs, BEHAVIOURS, f"shutdown-timeout {SHUTDOWN_S}s\n") as init:
        argv = [str(faults), str(init.pid), str(count), str(EVERY), str(seed)]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
            while running.poll() is None:
                assert init.is_alive, init.console()[-2000:]
                verb = dice.choice(["restart", "restart", "stop", "start", "why", "reload", "connect"])
                # The connection may be what fails.
                with suppress(OSError):
                    if verb == "connect":
                        wake(root)
                    else:
                        init.ask("reload" if verb == "reload" else f"{verb} {dice.choice(list(BEHAVIOURS))}")
            said, wrong = running.communicate()
        assert running.returncode == 0, wrong + init.console()[-2000:]
        expect_survival(init)
    return {name: int(number) for name, number in (line.split() for line in said.splitlines())}


def wake(root: Path) -> None:
    """Connect to the unit that is started by that."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(1)
        # A path of at most 108 bytes, however long the folder's name is.
        folder = os.open(root / "run/wakes", os.O_PATH)
        try:
            connection.connect(f"/proc/self/fd/{folder}/socket")
        finally:
            os.close(folder)
        connection.recv(100)


@pytest.mark.boot
@pytest.mark.parametrize("seed", [pytest.param(1, marks=pytest.mark.promise("process 1 under faults")), 2])
def test_some_hundred_system_calls_fail(tmp_path: Path, programs: dict[str, Path], faults: Path, seed: int) -> None:
    failed = fail_calls(tmp_path / "root", programs, faults, 250, seed)
    assert sum(failed.values()) == 250
    assert {"fork", "openat", "write", "recvmsg"} & failed.keys()


@pytest.mark.bench
def test_ten_thousand_system_calls_fail(tmp_path: Path, programs: dict[str, Path], faults: Path) -> None:
    total: dict[str, int] = {}
    for seed in range(20):
        for name, number in fail_calls(tmp_path / str(seed), programs, faults, 500, seed).items():
            total[name] = total.get(name, 0) + number
        print(f"{sum(total.values())} system calls of PID 1 have failed: {total}", flush=True)


@pytest.mark.promise("process 1 under faults")
@pytest.mark.boot
def test_damaged_unit_files_cost_only_themselves(tmp_path: Path, programs: dict[str, Path]) -> None:
    dice = random.Random(3)
    for turn in range(10):
        damaged = {name: damage(text, dice) for name, text in BEHAVIOURS.items()} | {"good": BEHAVIOURS["good"]}
        with InitNamespace(tmp_path / str(turn), programs, damaged, f"shutdown-timeout {SHUTDOWN_S}s\n") as init:
            expect_survival(init)


def damage(text: str, dice: random.Random) -> str:
    """Return the text with a few characters changed, doubled or taken out."""
    for _ in range(dice.randrange(1, 6)):
        at, length = dice.randrange(len(text)), dice.randrange(1, 9)
        other = ("", chr(dice.randrange(1, 256)), text[at : at + length] * 2)[dice.randrange(3)]
        text = text[:at] + other + text[at + (1 if len(other) == 1 else length) :] or "\n"
    return text
