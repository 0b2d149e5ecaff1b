"""Cloud Hypervisor's log: steps, codes on port 0x80 and restarts at the rows' own stamps."""

import time
from datetime import UTC, datetime
from pathlib import Path

from bootlab.targets.cloud_hypervisor.log import BOOTING, LET_GO, CloudHypervisorLog
from tests.targets.vmm.log_rows import read_rows


def stamp(ns: int) -> str:
    """Return a time of day, in ns since 1970, as it writes it."""
    return f"{datetime.fromtimestamp(ns // 10**9, UTC):%Y-%m-%dT%H:%M:%S}.{ns % 10**9 // 1000:06}Z"


def test_steps_and_codes_are_at_their_own_stamps_and_each_code_counts_once(tmp_path: Path) -> None:
    early_ns = 50_000_000
    at, now_ns = stamp(time.time_ns() - early_ns), time.monotonic_ns() - early_ns
    codes: list[tuple[int, int]] = []
    reboots: list[int] = []
    log = read_rows(
        tmp_path,
        lambda path: CloudHypervisorLog(path, lambda *said: codes.append(said), lambda: reboots.append(1)),
        f"{at} INFO vmm event_monitor/src/lib.rs:100 Event: source = vm event = booting \r\n",
        f"{at} INFO vmm vmm/src/cpu.rs:1513 Starting vCPUs: desired = 1, allocated = 1\r\n",
        f"{at} WARN vcpu0 devices/src/debug_port.rs:60 [Debug I/O port: Userspace code 0x60] 0.041234 seconds\r\n",
        f"{at} WARN vcpu0 devices/src/debug_port.rs:60 [Debug I/O port: Userspace code 0x60] 0.051234 seconds\r\n",
        f"{at} ERROR vcpu0 hypervisor/src/kvm/mod.rs:2531 Guest likely triple-faulted\r\n",
        f"{at} INFO vmm event_monitor/src/lib.rs:100 Event: source = vm event = rebooting \r\n",
        "2026-13-45T00:00:00.000000Z INFO vmm a no such day\r\n\x1b[2J\xff not a row\n",
    )
    for step in (BOOTING, LET_GO):
        assert abs((log.step_ns(step) or 0) - now_ns) < 20_000_000
    assert [code for code, _ in codes] == [0x60] and abs(codes[0][1] - now_ns) < 20_000_000
    assert reboots == [1] and log.last_errors == "Guest likely triple-faulted" and b"not a row" in log.text
