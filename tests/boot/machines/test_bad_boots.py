"""Boots that go wrong: each is a clear outcome or a clear error, and none leaves a machine behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.errors import BootlabError, InputError
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import System
from bootlab.targets.qemu.program import require_qemu

pytestmark = [pytest.mark.boot, pytest.mark.network]

SPIN = "#!/bin/busybox sh\nwhile :; do :; done\n"
SLEEP = "#!/bin/busybox sh\nexec sleep 1000000000\n"
POWER_OFF = "#!/bin/busybox sh\nexec reboot -f\n"
DIE = "#!/bin/busybox sh\nexit 3\n"
PATTERN = "#!/bin/busybox sh\necho the login is here\nexec sleep 1000000000\n"
ECHO = "#!/bin/busybox sh\necho bootlab: mark ready\nexec sleep 1000000000\n"
FAIL = "#!/bin/busybox sh\nbootlab-mark ready\necho bootlab: check failed: no disk\nexec sleep 1000000000\n"
EARLY = "#!/bin/busybox sh\necho bootlab: check failed: no camera\nexec sleep 1000000000\n"
CHECKED = "#!/bin/busybox sh\nbootlab-mark ready\nbootlab-mark it-works\nexec sleep 1000000000\n"
ECHOED_CHECK = "#!/bin/busybox sh\nbootlab-mark ready\necho bootlab: check ok\nexec sleep 1000000000\n"
SAID_CHECK = "#!/bin/busybox sh\nbootlab-mark ready\necho bootlab: mark it-works\nexec sleep 1000000000\n"
ENDS_SAID = "#!/bin/busybox sh\nbootlab-mark ready\necho bootlab: mark it-works\nexec reboot -f\n"
EARLY_CHECK = "#!/bin/busybox sh\nbootlab-mark it-works\nbootlab-mark ready\nexec sleep 1000000000\n"
ENDS_READY = "#!/bin/busybox sh\nbootlab-mark ready\nexec reboot -f\n"
WRONG = "#!/bin/busybox sh\nbootlab-mark ready\nexit 1\n"


def with_init(system: System, folder: Path, script: str, *, deadline_s: float = 25.0) -> System:
    init = folder / "init"
    init.write_text(script)
    init.chmod(0o755)
    system = system.with_part("initramfs", init=init, modules=(), files={})
    return system.with_part("booted", deadline_s=deadline_s)


def checked_by_mark(system: System, console: str) -> System:
    words = system.kernel.cmdline.replace("console=ttyS0", console) if console else system.kernel.cmdline
    system = system.with_part("kernel", cmdline=words)
    return System.model_validate({**dict(system), "check": {"mark": "it-works", "deadline_s": 20.0}, "network": None})


def leftovers(folder: Path) -> list[str]:
    # Every QEMU of ours names its trace, which lies below the folder of the test.
    found = subprocess.run(["pgrep", "-af", f"qemu-system.*{folder}"], capture_output=True, text=True, check=False)
    return found.stdout.splitlines()


def boot_it(system: System, cache: Cache, tmp_path: Path) -> BootRecord:
    directory = tmp_path / "run"
    directory.mkdir()
    record = boot(prepare(Workshop(cache), system), directory)
    assert (directory / "record.json").is_file()
    assert not leftovers(tmp_path)
    return record


bad_boot = pytest.mark.promise("bad boots")


@pytest.mark.parametrize(
    ("script", "outcome", "words"),
    [
        pytest.param(SPIN, Outcome.HUNG, "not ready after 25 s", marks=bad_boot),
        (SLEEP, Outcome.HUNG, "last console line"),
        (POWER_OFF, Outcome.NOT_READY, "guest reset before ready"),
        pytest.param(DIE, Outcome.PANICKED, "Attempted to kill init! exitcode=0x00000300", marks=bad_boot),
        pytest.param(FAIL, Outcome.CHECK_FAILED, "no disk", marks=bad_boot),
        (EARLY, Outcome.CHECK_FAILED, "before it was ready its check said: bootlab: check failed: no camera"),
        (WRONG, Outcome.CHECK_FAILED, "panicked during its check"),
    ],
    ids=["spins", "sleeps", "resets", "panics", "fails-check", "fails-early", "panics-in-check"],
)
def test_outcomes(script: str, outcome: Outcome, words: str, fast_system: System, cache: Cache, tmp_path: Path) -> None:
    record = boot_it(with_init(fast_system, tmp_path, script), cache, tmp_path)
    assert record.outcome is outcome
    assert words in record.detail


def test_ready_by_console_pattern_is_exact(fast_system: System, shop: Workshop, tmp_path: Path) -> None:
    system = with_init(fast_system, tmp_path, PATTERN).with_part("booted", mark=None, console="the login is here")
    system = System.model_validate({**dict(system), "check": None})
    first, second = (tmp_path / "a", tmp_path / "b")
    for directory in (first, second):
        directory.mkdir()
    one, other = boot(prepare(shop, system), first), boot(prepare(shop, system), second)
    assert one.outcome is Outcome.READY, one.detail
    assert one.marks == other.marks
    assert one.instructions == other.instructions
    assert one.console_sha256 == other.console_sha256


def test_a_script_can_say_ready_with_echo(fast_system: System, cache: Cache, tmp_path: Path) -> None:
    system = System.model_validate({**dict(with_init(fast_system, tmp_path, ECHO)), "check": None})
    record = boot_it(system, cache, tmp_path)
    assert record.outcome is Outcome.READY, record.detail
    assert record.marks["ready"] > record.marks["init_exec"]


@pytest.mark.parametrize("console", ["", "console=null"], ids=["a-console", "none"])
@pytest.mark.parametrize("checked", [True, False], ids=["checked", "not-checked"])
def test_a_mark_says_that_the_check_passed(
    fast_system: System, cache: Cache, tmp_path: Path, checked: bool, console: str
) -> None:
    system = with_init(fast_system, tmp_path, CHECKED if checked else ECHOED_CHECK)
    record = boot_it(checked_by_mark(system, console), cache, tmp_path)
    assert record.outcome is (Outcome.READY if checked else Outcome.CHECK_FAILED), record.detail
    assert (record.marks.get("it-works", 0) > record.marks["ready"]) == checked
    if not checked:
        assert ("has not made the mark it-works" if console else "no result of the check") in record.detail
    said = (Path(record.run) / "console.log").read_bytes()
    assert (b"Linux version" in said) != bool(console)


@pytest.mark.parametrize("console", ["", "console=null"], ids=["a-console", "none"])
@pytest.mark.parametrize(
    ("script", "words"),
    [
        (EARLY_CHECK, "before it was ready its check said: mark it-works, which proves nothing before"),
        (ENDS_READY, "the guest ended (guest reset) during its check"),
    ],
    ids=["before-ready", "ends"],
)
def test_a_check_by_mark_fails_with_its_reason(
    fast_system: System, cache: Cache, tmp_path: Path, script: str, words: str, console: str
) -> None:
    record = boot_it(checked_by_mark(with_init(fast_system, tmp_path, script), console), cache, tmp_path)
    assert record.outcome is Outcome.CHECK_FAILED and words in record.detail, record.detail


@pytest.mark.parametrize("script", [SAID_CHECK, ENDS_SAID], ids=["goes-on", "ends"])
def test_a_check_passes_by_the_line_of_its_mark_alone(
    fast_system: System, cache: Cache, tmp_path: Path, script: str
) -> None:
    record = boot_it(checked_by_mark(with_init(fast_system, tmp_path, script), ""), cache, tmp_path)
    assert record.outcome is Outcome.READY, record.detail


@bad_boot
def test_qemu_killed_in_mid_boot(fast_system: System, shop: Workshop, tmp_path: Path) -> None:
    prepared = prepare(shop, fast_system)
    killed = []

    def kill(t_ns: int, line: str) -> None:
        if "Linux version" in line:
            killed.append(line)
            subprocess.run(["pkill", "-KILL", "-f", f"qemu-system.*{tmp_path}"], check=True)

    record = boot(prepared, tmp_path, on_line=kill)
    assert killed
    assert record.outcome is Outcome.TARGET_DIED
    assert "SIGKILL" in record.detail
    assert "kernel_entry" in record.marks, "what the trace holds is kept"


@pytest.mark.promise("bad input")
def test_kernel_for_another_architecture(fast_system: System, shop: Workshop) -> None:
    system = fast_system.with_part("kernel", package="linux-image-cloud-amd64").with_part("machine", type="virt")
    arm = System.model_validate({**dict(system)})
    x86 = prepare(shop, fast_system).files.kernel
    with pytest.raises(InputError, match=r"kernel.image.*x86_64.*aarch64|kernel.image.*aarch64.*x86_64"):
        prepare(shop, arm.with_part("kernel", package=None, suite=None, image=x86))


@pytest.mark.promise("bad input")
def test_truncated_initramfs(fast_system: System, shop: Workshop, tmp_path: Path) -> None:
    whole = prepare(shop, fast_system).files.initramfs
    assert whole is not None
    cut = tmp_path / "initrd.gz"
    cut.write_bytes(whole.read_bytes()[:-1000])
    system = System.model_validate({**dict(fast_system), "initramfs": {"path": cut}})
    with pytest.raises(InputError, match="initramfs.path"):
        prepare(shop, system)


@pytest.mark.promise("bad input")
def test_qemu_too_old(fast_system: System, shop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "qemu-system-x86_64"
    program.write_text('#!/bin/sh\necho "QEMU emulator version 7.2.9 (Debian 1:7.2+dfsg-7)"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    require_qemu.cache_clear()
    try:
        with pytest.raises(BootlabError, match="version 7.2.9, bootlab needs 9.2") as caught:
            prepare(shop, fast_system)
        assert caught.value.exit_code == 3
    finally:
        require_qemu.cache_clear()


def start_cli(*words: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "bootlab", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
@pytest.mark.parametrize("after_s", [0.0, pytest.param(5.0, marks=pytest.mark.promise("nothing left running"))])
def test_nothing_is_left_running(number: signal.Signals, after_s: float, tmp_path: Path) -> None:
    child = start_cli("boot", "examples/debian-cloud.toml", "--runs", str(tmp_path))
    assert child.stderr is not None
    first = child.stderr.readline()
    assert first == b"preparing debian-cloud\n"
    time.sleep(after_s)
    child.send_signal(number)
    _, errors = child.communicate(timeout=20)
    deadline = time.monotonic() + 5
    while leftovers(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not leftovers(tmp_path)
    if number is not signal.SIGKILL:
        assert child.returncode == 130, errors
        assert b"Traceback" not in errors


@pytest.mark.promise("full disk")
def test_full_disk_for_the_run_store() -> None:
    """/dev/full cannot be a directory; a small tmpfs that is full is the real thing, where we may mount one."""
    script = (
        "set -e; d=$(mktemp -d); mount -t tmpfs -o size=64k none $d; "
        f"{sys.executable} -m bootlab boot -q examples/debian-cloud.toml --runs $d || echo exit=$?"
    )
    done = subprocess.run(
        ["unshare", "--mount", "--map-root-user", "sh", "-c", script],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
        check=False,
        timeout=120,
    )
    if "unshare" in done.stderr:
        pytest.skip(f"unshare: no mount namespace here: {done.stderr.strip()}")
    assert "cannot write the run: No space left on device" in done.stderr
    assert "hint: free some space" in done.stderr
    assert "exit=1" in done.stdout
    assert "Traceback" not in done.stderr


def test_a_prompt_without_line_end_is_ready(fast_system: System, cache: Cache, tmp_path: Path) -> None:
    script = "#!/bin/busybox sh\nprintf 'myhost login: '\nexec sleep 1000000000\n"
    system = with_init(fast_system, tmp_path, script).with_part("booted", mark=None, console="login:")
    record = boot_it(System.model_validate({**dict(system), "check": None}), cache, tmp_path)
    assert record.outcome is Outcome.READY, record.detail
    assert record.marks["first_user_instruction"] < record.marks["ready"]
    assert record.instructions is not None


@pytest.mark.parametrize(
    "script", ["bootlab-mark ready; printf 'myhost login: '", "printf 'myhost login: '; bootlab-mark ready"]
)
def test_a_check_waits_for_a_prompt_without_line_end(
    script: str, fast_system: System, cache: Cache, tmp_path: Path
) -> None:
    """Behind which nothing more comes: it was waited for up to the check's deadline."""
    system = with_init(fast_system, tmp_path, f"#!/bin/busybox sh\n{script}\nexec sleep 1000000000\n")
    values = {**dict(system), "check": {"console": "login:", "deadline_s": 60}}
    record = boot_it(System.model_validate(values), cache, tmp_path)
    assert record.outcome is Outcome.READY, record.detail


@pytest.mark.promise("marks")
def test_a_guest_cannot_move_our_marks(fast_system: System, cache: Cache, tmp_path: Path) -> None:
    script = (
        "#!/bin/busybox sh\nbootlab-mark power_on\nbootlab-mark init_exec\nbootlab-mark ready\nexec sleep 1000000000\n"
    )
    system = System.model_validate({**dict(with_init(fast_system, tmp_path, script)), "check": None})
    record = boot_it(system, cache, tmp_path)
    assert record.outcome is Outcome.READY, record.detail
    assert record.marks["power_on"] == 0
    assert all(phase.duration_ns >= 0 for phase in record.phases)
    clock = record.guest_clock
    assert clock is not None
    assert record.marks["start_kernel"] < clock.since_ns + clock.offset_ns < record.marks["ready"]
