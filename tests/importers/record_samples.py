"""Records the importers' samples: `python -m tests.importers.record_samples DIR [BOOT...]`.

A Debian with systemd is booted once for each of BOOTS. Each has tools of its own switched on, on the command line; the
guest writes what they say onto a second disk, and grabserial listens on the pty of its serial line. `watch` is a boot
of examples/debian-cloud.toml on the host's clock, with `bootlab watch` on its pty; `board` one of examples/board.toml
with U-Boot's bootstage; `dracut` one of a Debian with dracut's initramfs; `debian-12` two of a Debian 12, and
`watch-debian-13` one of another kernel. Needs what `make setup-build` installs, and Debian's grabserial.
"""

import io
import json
import os
import re
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.process import require_program
from bootlab.system import read_system
from bootlab.targets.qemu.argv import qemu_argv
from bootlab.targets.qemu.wiring import Wiring
from bootlab.targets.target import Prepared

GUEST = Path(__file__).parent / "systemd_guest" / "guest.toml"
WANTED = "systemd.wants=record-samples.service"
TRACE = "trace_clock=global trace_buf_size=1M trace_options=nooverwrite"
BOOTS = {
    "systemd": f"initcall_debug ignore_loglevel log_buf_len=16M {WANTED}",
    "ftrace-events": f"quiet {TRACE} trace_event=initcall:*,sched:sched_switch,sched:sched_process_exec {WANTED}",
    "ftrace-graph": f"quiet {TRACE} ftrace=function_graph ftrace_graph_max_depth=2 "
    f"ftrace_graph_filter=do_one_initcall {WANTED}",
    "systemd-bootchart": f"quiet initcall_debug log_buf_len=16M init=/lib/systemd/systemd-bootchart {WANTED}",
    "bootchart": f"quiet init=/usr/local/sbin/collect-bootchart {WANTED}",
    "dracut": f"rw {WANTED}",
}
"""What is recorded -> what the command line has besides."""
EXAMPLES = Path(__file__).parents[2] / "examples"
_RESULT_MIB = 64
_DEADLINE_S = 900


def record(prepared: Prepared, label: str, out: Path) -> None:
    """Boot once and write all that was recorded into `out`."""
    out.mkdir(parents=True, exist_ok=True)
    grabserial, grabbed = require_program("grabserial", package="grabserial"), out / "grabserial.log"
    with tempfile.TemporaryDirectory() as folder:
        disk = Path(folder, "result.img")
        disk.write_bytes(b"")
        os.truncate(disk, _RESULT_MIB << 20)
        _boot_on_a_pty(
            prepared, BOOTS[label], Path(folder), ["-drive", f"file={disk},format=raw,if=virtio"], grabbed,
            lambda pty: [grabserial, "-S", "-d", pty, "-t", "-Q", "-o", str(grabbed), "-q", "samples: written"],
        )  # fmt: skip
        with tarfile.open(fileobj=io.BytesIO(disk.read_bytes())) as archive:
            archive.extractall(out, filter="data")


def record_debian_12(out: Path) -> None:
    """Boot a Debian 12 twice: what its systemd prints of a boot, and systemd-bootchart's drawing of another."""
    prepared = prepare(Workshop(Cache.default()), read_system(GUEST.with_name("debian-12.toml")))
    record(prepared, "systemd", out)
    record(prepared, "systemd-bootchart", out / "bootchart")


def record_watch(out: Path, example: str = "debian-cloud.toml") -> None:
    """Boot an example once and keep what `bootlab watch --record` makes of the serial line."""
    out.mkdir(parents=True, exist_ok=True)
    system = read_system(EXAMPLES / example).with_part("clock", kind="wall")
    prepared = prepare(Workshop(Cache.default()), system.with_cmdline("cryptomgr.notests"))
    with tempfile.TemporaryDirectory() as folder:
        _boot_on_a_pty(
            prepared, "", Path(folder), [], out / "boot.rec",
            lambda pty: [sys.executable, "-m", "bootlab", "watch", f"board={pty}", "--record", str(out / "boot.rec"),
                         "--until", "bootlab: check ok"],
            enough=True,
        )  # fmt: skip


def record_watch_debian_13(out: Path) -> None:
    """Record the serial line of a boot of another kernel."""
    record_watch(out, "debian-13-cloud.toml")


def record_board(out: Path) -> None:
    """Boot the board of the examples with U-Boot's bootstage, and keep the console and bootlab's marks."""
    out.mkdir(parents=True, exist_ok=True)
    system = read_system(EXAMPLES / "board.toml")
    assert system.bootloader is not None
    patches = (*system.bootloader.patches, EXAMPLES.parent / "patches" / "u-boot" / "sunxi-bootstage.patch")
    system = system.with_part("bootloader", fragments=(EXAMPLES / "board" / "bootstage.config",), patches=patches)
    boot(prepare(Workshop(Cache.default()), system), out)


def record_dracut(out: Path) -> None:
    """Boot a Debian whose initramfs is dracut's, with systemd in it, and write what systemd says of that boot."""
    root = read_system(GUEST.with_name("dracut.toml"))
    with tempfile.TemporaryDirectory() as folder:
        (image, *_) = prepare(Workshop(Cache.default()), root).files.disks
        initrd, debugfs = Path(folder, "initrd.img"), require_program("debugfs", package="e2fsprogs")
        listed = subprocess.run([debugfs, "-R", "ls /boot", image], capture_output=True, text=True, check=True)
        name = re.search(r"initrd\.img-\S+", listed.stdout)
        assert name is not None
        subprocess.run([debugfs, "-R", f"dump /boot/{name[0]} {initrd}", image], capture_output=True, check=True)
        system = root.with_part("initramfs", init=None, modules=(), path=initrd)
        record(prepare(Workshop(Cache.default()), system), "dracut", out)


def _boot_on_a_pty(
    prepared: Prepared,
    words: str,
    folder: Path,
    more: list[str],
    recording: Path,
    recorder: Callable[[str], list[str]],
    *,
    enough: bool = False,
) -> None:
    # With `enough` the boot is over when the recorder is.
    system = prepared.system
    system = system.with_part("kernel", cmdline=f"{system.kernel.cmdline} {words}".rstrip())
    argv = qemu_argv(system, prepared.files, Wiring(folder / "qmp", accelerator=prepared.accelerator))
    argv[argv.index("stdio,id=console,signal=off")] = "pty,id=console"
    qemu = subprocess.Popen([*argv, *more], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    listens = subprocess.Popen(recorder(_pty_of(qemu)), stdin=subprocess.DEVNULL)
    try:
        # What comes before somebody has opened the pty is lost.
        while not recording.exists():
            time.sleep(0.5)
        time.sleep(3)
        _power_on(folder / "qmp")
        if enough:
            listens.wait(_DEADLINE_S)
        else:
            qemu.wait(_DEADLINE_S)
            time.sleep(2)
    finally:
        for child in (qemu, listens):
            child.kill()
            child.wait()


def _power_on(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as qmp:
        qmp.connect(str(path))
        for command in ("qmp_capabilities", "cont"):
            qmp.sendall(json.dumps({"execute": command}).encode() + b"\n")
        time.sleep(0.5)


def _pty_of(qemu: "subprocess.Popen[str]") -> str:
    assert qemu.stdout is not None
    for line in qemu.stdout:
        if found := re.search(r"char device redirected to (\S+)", line):
            return found[1]
        print(line, end="")
    raise SystemExit("QEMU ended before it made a pty")


OTHERS = {
    "watch": record_watch,
    "watch-debian-13": record_watch_debian_13,
    "board": record_board,
    "dracut": record_dracut,
    "debian-12": record_debian_12,
}


def main(folder: str, labels: list[str]) -> None:
    """Record all samples, or those named."""
    for label in labels or dict.fromkeys([*BOOTS, *OTHERS]):
        began = time.monotonic()
        if label in OTHERS:
            OTHERS[label](Path(folder, label))
        else:
            record(prepare(Workshop(Cache.default()), read_system(GUEST)), label, Path(folder, label))
        print(f"{label}: {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
