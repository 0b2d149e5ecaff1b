"""A profile of a real machine: an emulated PC behind a pty, whose shell is typed at and tells what its kernel did."""

import json
from pathlib import Path

import pytest

from bootlab.cli.app import run
from bootlab.errors import InputError
from tests.serial.conftest import WriteBoard
from tests.serial.null_modem import NullModem

pytestmark = [pytest.mark.boot, pytest.mark.network]

INIT = """#!/bin/busybox sh
export PATH=/bin:/sbin
mount -t proc proc /proc
mount -t devtmpfs devtmpfs /dev
bootlab-mark ready
exec setsid sh </dev/ttyS0 >/dev/ttyS0 2>&1
"""
READY = 'mark = "ready"\ndeadline_s = 240'
PROMPT = """
[target.shell]
prompt = "# $"
keeps = { interrupts = "cat /proc/interrupts" }
"""


@pytest.fixture
def shell_init(tmp_path: Path) -> Path:
    """A /init that leaves the console to a shell."""
    path = tmp_path / "init"
    path.write_text(INIT)
    path.chmod(0o755)
    return path


def test_its_kernels_initcalls_are_told_over_the_line(
    write_board: WriteBoard, modem: NullModem, shell_init: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    board = write_board(modem, READY, PROMPT, shell_init)
    runs = str(tmp_path / "runs")
    assert run(["profile", str(board), "--pairs", "5", "--json", "--runs", runs]) == 0
    (imported,) = json.loads(capsys.readouterr().out)["imported"]
    recording = imported["recording"]
    with capsys.disabled():
        print(f"\n{recording['notes'][0]}")
    # Those before the console was registered have a length, and no place on its clock.
    told = [*recording["timeline"]["spans"], *recording["lengths"]]
    calls = {one["name"] for one in told if one["source"] == "initcall"}
    assert len(calls) > 200 and "acpi_init" in calls
    assert [one["name"] for one in imported["files"]] == ["dmesg", "console.log"]
    notes = " ".join(recording["notes"])
    assert "Telling cost" in notes and "with `initcall_debug log_buf_len=16M`" in notes
    assert "systemd-show: it said nothing: no such tool there" in notes
    # What nobody can lay onto a clock is kept and named.
    kept = next((tmp_path / "runs").glob("*/boots/asked-5/said/interrupts"))
    assert "interrupts: kept in" in notes and "timer" in kept.read_text()
    # Without the words the kernel says nothing of its initcalls.
    plain = next((tmp_path / "runs").glob("*/boots/plain-1/console.log")).read_text(errors="replace")
    assert "initcall" not in plain
    assert run(["report", "last", "--runs", runs]) == 0
    assert "acpi_init" in capsys.readouterr().out


def test_a_quiet_console_does_not_cost_the_kernels_log(
    write_board: WriteBoard, modem: NullModem, shell_init: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    board = write_board(modem, READY, '[target.shell]\nprompt = "# $"', shell_init)
    board.write_text(board.read_text().replace("panic=-1", "panic=-1 quiet"))
    assert run(["profile", str(board), "--json", "--runs", str(tmp_path / "runs")]) == 0
    (imported,) = json.loads(capsys.readouterr().out)["imported"]
    calls = {one["name"] for one in imported["recording"]["timeline"]["spans"] if one["source"] == "initcall"}
    assert len(calls) > 200 and "acpi_init" in calls
    assert imported["files"][0]["name"] == "dmesg"


def test_a_prompt_that_never_comes_is_told(
    write_board: WriteBoard, modem: NullModem, shell_init: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = '[target.shell]\nprompt = "login: $"\nwords = ""\ndeadline_s = 6'
    board = write_board(modem, READY, shell, shell_init)
    assert run(["profile", str(board), "--runs", str(tmp_path / "runs")]) == 0
    told = capsys.readouterr().out
    assert "target.shell: not all was answered in 6 s (deadline_s); last it said: " in told
    assert "dmesg: no answer came" in told


def test_what_a_profile_of_a_board_takes_is_said(write_board: WriteBoard, modem: NullModem, tmp_path: Path) -> None:
    board, runs = write_board(modem), str(tmp_path / "runs")
    with pytest.raises(InputError, match=r"board\.toml:target\.shell: missing"):
        run(["profile", str(board), "--runs", runs])
    with pytest.raises(InputError, match="--vcpus: is of a profile that counts instructions"):
        run(["profile", str(board), "--vcpus", "2", "--runs", runs])
    assert not Path(runs).exists()
