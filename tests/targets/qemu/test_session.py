"""A QEMU that cannot be started as it should be: what is missing is named, and what may spoil a boot is told."""

import asyncio
import os
from pathlib import Path

import pytest

from bootlab.errors import BootFailed, MissingTool
from bootlab.targets.machine_process import MachineProcess
from bootlab.targets.qemu.session import QemuSession
from bootlab.targets.target import EndReason


def open_session(stderr: Path) -> None:
    """Start a QEMU of the name `qemu` and end it again."""

    async def opened() -> None:
        async with QemuSession(["qemu"], stderr.parent / "qmp", stderr=stderr):
            pass

    asyncio.run(opened())


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH that holds nothing but a program called qemu."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "qemu").write_text("#!/bin/sh\nexit 1\n")
    (folder / "qemu").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return folder


def test_a_host_without_setpriv_is_told_where_it_comes_from(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bootlab.process._ADMIN_FOLDERS", ())
    with pytest.raises(MissingTool, match="setpriv") as caught:
        open_session(tmp_path / "stderr")
    assert "util-linux" in (caught.value.hint or "")


def test_a_folder_that_is_gone_is_not_taken_for_a_missing_program(path: Path, tmp_path: Path) -> None:
    (path / "setpriv").symlink_to("/bin/true")
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(FileNotFoundError, match="gone/stderr"):
        open_session(tmp_path / "gone" / "stderr")
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_qemu_that_ends_at_once_without_a_word_is_told_by_how_it_ended(path: Path, tmp_path: Path) -> None:
    (path / "setpriv").write_text("#!/bin/sh\nkill -SEGV $$\n")
    (path / "setpriv").chmod(0o755)
    with pytest.raises(BootFailed, match=r"did not start: killed by signal 11 \(SIGSEGV\)"):
        open_session(tmp_path / "stderr")


@pytest.mark.parametrize("withheld_s", [0.0, 60.0])
def test_a_qemu_that_stood_without_a_cpu_has_longer_to_answer(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, withheld_s: float
) -> None:
    (path / "setpriv").write_text("#!/bin/sh\nPATH=/usr/bin:/bin\nsleep 0.3\nexit 7\n")
    (path / "setpriv").chmod(0o755)
    monkeypatch.setattr("bootlab.targets.qemu.session._CONNECT_S", 0.0)
    monkeypatch.setattr(MachineProcess, "withheld_s", lambda process: withheld_s)
    with pytest.raises(BootFailed, match="exit code 7" if withheld_s else "no answer on its control socket"):
        open_session(tmp_path / "stderr")


def test_a_qemu_too_new_for_the_plugin_is_told(path: Path, tmp_path: Path) -> None:
    words = "Could not load plugin x: plugin requires API version 7, but this QEMU supports only a minimum version of 9"
    (path / "setpriv").write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 1\n")
    (path / "setpriv").chmod(0o755)
    with pytest.raises(BootFailed, match="minimum version of 9") as caught:
        open_session(tmp_path / "stderr")
    assert "newer than this bootlab" in (caught.value.hint or "")


@pytest.mark.parametrize("no_space", [True, False])
def test_a_guest_that_qemu_stopped_for_a_disk_has_a_reason(no_space: bool, tmp_path: Path) -> None:
    """QEMU 10.0 says it so; nobody would ever make room, so that is the end of the boot."""
    session = QemuSession(["qemu"], tmp_path / "qmp", stderr=tmp_path / "stderr")
    reason = "No space left on device" if no_space else "Input/output error"
    data = {"device": "disk0", "operation": "write", "action": "stop", "reason": reason, "nospace": no_space}
    session._take_disk_error({**data, "action": "report"})
    assert session._ending(0) == (EndReason.STOPPED, "")
    session._take_disk_error(data)
    reason_of_end, words = session._ending(-9)
    assert reason_of_end is EndReason.DIED
    assert words.startswith(f"qemu: the guest was stopped: disk0: write: {reason}") and ("TMPDIR" in words) == no_space
