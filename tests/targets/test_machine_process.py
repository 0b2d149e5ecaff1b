"""A VMM's process: what may spoil its console is told, and nothing of it is left, however it ends."""

import asyncio
import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bootlab.errors import MissingTool
from bootlab.targets import machine_process as module
from bootlab.targets.machine_process import MachineProcess, exit_words


def test_a_pipe_too_small_for_a_console_is_a_doubt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_fd, write_fd = os.pipe()
    try:
        process = MachineProcess(["vmm"], stderr=tmp_path / "stderr")
        process._widen(write_fd)
        assert not process.doubts and fcntl.fcntl(write_fd, fcntl.F_GETPIPE_SZ) == 1 << 20
        # More than the kernel gives anybody.
        monkeypatch.setattr(module, "_PIPE_BYTES", (1 << 31) - 1)
        process._widen(write_fd)
        assert "holds 1048576 bytes, not 2147483647" in process.doubts[0]
    finally:
        os.close(read_fd)
        os.close(write_fd)


def test_its_console_comes_to_its_end_and_its_last_words_are_kept(tmp_path: Path) -> None:
    async def followed() -> tuple[int, bytes, str]:
        process = MachineProcess(["sh", "-c", "echo one; echo why >&2; exit 3"], stderr=tmp_path / "stderr")
        await process.start(lambda program: {"LC_ALL": "C"})
        said = bytearray()
        code = await process.follow_console(lambda event: said.extend(event.data))
        await process.end()
        return code, bytes(said), process.error_text()

    assert asyncio.run(followed()) == (3, b"one\n", "why")
    assert (exit_words(3), exit_words(-9)) == ("exit code 3", "killed by signal 9 (SIGKILL)")
    # A real-time signal has no name, and whoever waits for the end must hear of it all the same.
    assert exit_words(-40) == "killed by signal 40"


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    process = MachineProcess(["no-such-vmm"], stderr=tmp_path / "stderr", hint="it is in the package vmm")
    with pytest.raises(MissingTool, match="no-such-vmm: not found") as caught:
        asyncio.run(process.start())
    assert caught.value.hint == "it is in the package vmm"


def test_it_dies_with_whoever_started_it(tmp_path: Path) -> None:
    program = (
        "import asyncio, sys\nfrom pathlib import Path\n"
        "from bootlab.targets.machine_process import MachineProcess\n"
        "async def main():\n"
        f"    process = MachineProcess(['sleep', '600'], stderr=Path({str(tmp_path / 'stderr')!r}))\n"
        "    await process.start()\n    print(process.pid, flush=True)\n    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    starter = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert starter.stdout is not None
    pid = int(starter.stdout.readline())
    until = time.monotonic() + 20
    # setpriv asks for the signal, and then becomes the program.
    while Path(f"/proc/{pid}/comm").read_text() != "sleep\n":
        assert time.monotonic() < until
        time.sleep(0.001)
    starter.send_signal(signal.SIGKILL)
    starter.wait()
    starter.stdout.close()
    until = time.monotonic() + 20
    while Path(f"/proc/{pid}").exists() and "State:\tZ" not in Path(f"/proc/{pid}/status").read_text():
        assert time.monotonic() < until
        time.sleep(0.01)
