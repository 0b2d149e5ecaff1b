"""Files that a real machine's boot never read: an emulated PC behind a pty, asked for its access times."""

import json
from pathlib import Path

import pytest

from bootlab.cli.app import run
from bootlab.errors import InputError
from tests.serial.conftest import WriteBoard
from tests.serial.null_modem import NullModem
from tests.serial.test_real_profile import INIT, READY

pytestmark = [pytest.mark.boot, pytest.mark.network]

SHELL = '\n[target.shell]\nprompt = "# $"\n'


def write_init(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "init"
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_files_that_its_boot_never_read_are_listed(
    write_board: WriteBoard, modem: NullModem, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = INIT.replace("bootlab-mark ready", "cat /etc/read >/dev/null\ntest -e /etc/unread\nbootlab-mark ready")
    board = write_board(modem, READY, SHELL, write_init(tmp_path, text))
    for name in ("read", "unread"):
        (tmp_path / name).write_text(f"{name}\n")
    files = f'files = {{ "/etc/read" = "{tmp_path}/read", "/etc/unread" = "{tmp_path}/unread" }}\n'
    board.write_text(board.read_text().replace("[initramfs]\n", f"[initramfs]\n{files}", 1))
    listed, runs = tmp_path / "unused.txt", str(tmp_path / "runs")
    assert run(["unused", str(board), "--to", str(listed), "--json", "--runs", runs]) == 0
    document = json.loads(capsys.readouterr().out)
    part = document["parts"]["root"]
    unread = {one["path"] for one in part["unused"]}
    # Looked for is not read.
    assert {"/etc/unread", "/bin/vi"} <= unread
    assert not {"/init", "/etc/read", "/bin/busybox", "/sbin/bootlab-mark", "/bin/mount"} & unread
    assert listed.read_text().splitlines() == part["without"] and "/etc/unread" in part["without"]
    assert part["unsure_files"] == 0 and part["files"] > len(unread) and document["ready_without_ns"] is None
    assert any("opened and not read leaves no time" in note for note in document["notes"])
    with capsys.disabled():
        print(f"\n{part['unused_files']} of {part['files']} files were never read")
    assert run(["report", "last", "--runs", runs]) == 0
    told = capsys.readouterr().out
    assert "files were never read" in told and "note: a boot without them was not tried" in told


def test_a_root_without_access_times_and_a_board_without_a_shell_are_refused(
    write_board: WriteBoard, modem: NullModem, tmp_path: Path
) -> None:
    runs = str(tmp_path / "runs")
    with pytest.raises(InputError, match=r"board\.toml:target\.shell: missing: which files"):
        run(["unused", str(write_board(modem)), "--runs", runs])
    assert not Path(runs).exists()
    text = INIT.replace("bootlab-mark ready", "mount -o remount,noatime /\nbootlab-mark ready")
    board = write_board(modem, READY, SHELL, write_init(tmp_path, text))
    with pytest.raises(InputError, match="the root is mounted noatime") as caught:
        run(["unused", str(board), "--runs", runs])
    assert "take noatime out" in (caught.value.hint or "")
