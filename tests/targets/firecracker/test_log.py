"""Its log through a pipe: the guest's signal is taken once, and errors are kept."""

import time
from datetime import UTC, datetime
from pathlib import Path

from bootlab.targets.firecracker.log import FirecrackerLog
from tests.targets.vmm.log_rows import read_rows


def stamp(ns: int) -> str:
    """Return a time of day, in ns since 1970, as Firecracker writes it."""
    return f"{datetime.fromtimestamp(ns // 10**9, UTC):%Y-%m-%dT%H:%M:%S}.{ns % 10**9:09}"


def test_the_first_signal_of_the_guest_counts_and_errors_are_kept(tmp_path: Path) -> None:
    at = stamp(time.time_ns())
    signalled: list[int] = []
    log = read_rows(
        tmp_path,
        lambda path: FirecrackerLog(path, signalled.append),
        f"{at} [bootlab:fc_vcpu 0:INFO] Guest-boot-time =  41234 us 41 ms,  39000 CPU us 39 CPU ms\n",
        f"{at} [bootlab:fc_vcpu 0:INFO] Guest-boot-time =  99999 us 99 ms,  99999 CPU us 99 CPU ms\n",
        f"{at} [bootlab:main:ERROR] no way\n",
        "\x1b[2J\xff not a row\n",
    )
    assert len(signalled) == 1 and (log.guest_boot_ns, log.guest_boot_cpu_ns) == (41_234_000, 39_000_000)
    assert log.last_errors == "no way" and b"not a row" in log.text
