"""bootlab-coldplug itself, on this host: what is wrong is named and holds nothing up; devices are awaited by name."""

import platform
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.programs import guest

Run = Callable[..., tuple[int, list[str]]]


@pytest.fixture(scope="module")
def program() -> Path:
    return guest.compile_coldplug(platform.machine(), Cache.default(), record=False)[guest.COLDPLUG]


@pytest.fixture
def run(program: Path, tmp_path: Path) -> Run:
    program.chmod(0o755)

    def ran(text: str, *options: str) -> tuple[int, list[str]]:
        plan = tmp_path / "plan"
        plan.write_text(text)
        done = subprocess.run([program, *options, plan], capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, [line.replace(f"{plan}:", "") for line in done.stderr.splitlines()]

    return ran


@pytest.mark.parametrize("options", [(), ("--serial",), ("--threads", "16")])
def test_a_module_that_is_not_there_stops_only_those_that_need_it(run: Run, options: tuple[str, ...]) -> None:
    code, said = run("module /nope/a.ko -\nmodule /nope/b.ko 0\nmodule /nope/c.ko 1\nmodule /nope/d.ko -\n", *options)
    assert code == 1
    assert sorted(said) == [
        "coldplug: 1: /nope/a.ko: No such file or directory",
        "coldplug: 2: /nope/b.ko: not loaded: what it needs is not",
        "coldplug: 3: /nope/c.ko: not loaded: what it needs is not",
        "coldplug: 4: /nope/d.ko: No such file or directory",
    ]


def test_a_device_is_there_when_it_comes_however_deep(run: Run, tmp_path: Path) -> None:
    def appear() -> None:
        for folder in (tmp_path / "dev", tmp_path / "dev" / "disk"):
            time.sleep(0.05)
            folder.mkdir()
        (tmp_path / "dev" / "disk" / "sda").touch()

    thread = threading.Thread(target=appear)
    thread.start()
    began = time.monotonic()
    assert run(f"wait {tmp_path}/dev/disk/sda 30s\nwait /dev/null 1s\n") == (0, [])
    assert time.monotonic() - began < 20
    thread.join()


def test_one_that_never_comes_is_named_and_costs_its_time_once(run: Run) -> None:
    began = time.monotonic()
    code, said = run("wait /nope/a 300ms\nwait /nope/b 300ms\n")
    assert code == 1 and time.monotonic() - began < 10
    assert said == [
        "coldplug: 1: /nope/a: not there after 0.300 s; the boot goes on without it",
        "coldplug: 2: /nope/b: not there after 0.300 s; the boot goes on without it",
    ]


def test_what_is_in_the_background_fails_for_itself(run: Run) -> None:
    code, said = run("wait /dev/null 1s\nbackground\nmodule /nope/a.ko -\n")
    assert code == 0
    code, said = run("module /nope/a.ko -\nbackground\nmodule /dev/null -\n")
    assert code == 1 and "coldplug: 1: /nope/a.ko: No such file or directory" in said


def test_wrong_lines_are_named_and_the_rest_is_done(run: Run) -> None:
    code, said = run("module\nload /a.ko\nwait /dev/null 1s\nmodule /nope/a.ko 5\n")
    assert code == 1
    assert said == [
        "coldplug: 1: expected: module /FILE AFTER [PARAMETERS]",
        "coldplug: 2: load: expected module, wait, background or serial",
        "coldplug: 4: 5: not the number of an earlier module",
    ]


def test_wrong_use_and_no_plan(program: Path, tmp_path: Path) -> None:
    for words, expected in (
        (["--threads", "17"], "--threads 17: expected 1 to 16"),
        (["a", "b"], "usage:"),
        ([str(tmp_path / "none")], "none: No such file or directory"),
        ([str(tmp_path)], "Is a directory"),
    ):
        done = subprocess.run([program, *words], capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, expected in done.stderr) == (2, True), done.stderr


def test_the_devices_of_this_machine_are_facts(program: Path) -> None:
    done = subprocess.run([program, "--devices"], capture_output=True, text=True, timeout=60, check=True)
    for line in done.stdout.splitlines():
        assert line.startswith("bootlab: fact device.") and len(line.split(" ", 6)) == 7
    files = [path for path in Path("/sys/devices").rglob("modalias") if path.read_text().strip()]
    assert len(done.stdout.splitlines()) == len(files)
