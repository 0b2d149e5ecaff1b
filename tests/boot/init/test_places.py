"""How many units bootlab-init starts at once, by what the machine has left: in a guest, on the virtual clock."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.importers.init_account import AccountEventKind, InitAccount, require_account
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import System, read_system

pytestmark = [pytest.mark.boot, pytest.mark.network]

WORKER = Path(__file__).parent / "units" / "worker.c"
# One processor: two places to begin with, eight at most.
NORMAL, MOST = 2, 8
UNITS = 24
LATENCY_NS = 5_000_000
SYSTEM = f"""
name = "places"

[machine]
type = "microvm"
cpu = "max"
memory_mib = 256

[kernel]
package = "linux-image-cloud-amd64"
suite = "bookworm"
cmdline = "console=ttyS0 panic=-1 cryptomgr.notests quiet tsc=reliable nowatchdog"

[initramfs]
bootlab_init = true
directory = "root"
modules = ["null_blk"]
files = {{ "/bin/worker" = "{WORKER}" }}
compression = "none"

[booted]
mark = "ready"
deadline_s = 300
"""
# A disk each of whose requests takes its time on the guest's own clock.
INSERT = f"insmod $(grep null_blk /etc/bootlab/modules) irqmode=2 completion_nsec={LATENCY_NS}"
DISK = f"""exec /bin/sh -c "rmmod null_blk; {INSERT}"
ready exit
after modules
"""
LOADS = {
    "sleep": "work 200 0",
    "processor": "work 0 40",
    "disk": "read /dev/nullb0 40",
}


def boot(folder: Path, run_boot: Callable[[System], BootRecord], load: str, starting: str) -> InitAccount:
    """Boot `UNITS` units that do nothing but `load` until they are ready."""
    units = folder / "root/etc/bootlab/units"
    units.mkdir(parents=True)
    names = [f"unit-{number}" for number in range(UNITS)]
    for name in names:
        (units / f"{name}.unit").write_text(f"exec /bin/worker {LOADS[load]}\nready exit\nafter disk\n")
    (units / "disk.unit").write_text(DISK)
    (units / "account.unit").write_text(
        f"exec /sbin/bootlab-ctl account --console\nready exit\nafter {' '.join(names)}\n"
    )
    (units / "over.unit").write_text("exec /bin/worker exit 0\nready exit\nneeds account\nmark ready\n")
    (units.parent / "init.conf").write_text(f"lsb no\nstarting {starting}\n")
    (folder / "system.toml").write_text(SYSTEM)
    record = run_boot(read_system(folder / "system.toml"))
    assert record.outcome is Outcome.READY, record.detail
    account = require_account(Path(record.run, "console.log").read_text(errors="replace"))
    assert set(names) <= set(account.first_ns(AccountEventKind.READY))
    return account


def took_ns(account: InitAccount) -> int:
    """Return from the first unit's turn to the last unit's readiness."""
    eligible, ready = account.first_ns(AccountEventKind.ELIGIBLE), account.first_ns(AccountEventKind.READY)
    names = [name for name in ready if name.startswith("unit-")]
    return max(ready[name] for name in names) - min(eligible[name] for name in names)


@pytest.mark.parametrize(("load", "most"), [("sleep", MOST), ("processor", NORMAL), ("disk", MOST)])
def test_more_are_started_at_once_while_processors_are_left_unused(
    tmp_path: Path, run_boot: Callable[[System], BootRecord], load: str, most: int
) -> None:
    by_pressure = boot(tmp_path / "auto", run_boot, load, "auto")
    fixed = boot(tmp_path / "fixed", run_boot, load, str(NORMAL))
    print(f"{load}: {took_ns(by_pressure) / 1e6:.1f} ms, two at once {took_ns(fixed) / 1e6:.1f} ms")
    assert by_pressure.most_starting() == most
    assert fixed.most_starting() == NORMAL
    if most == MOST:
        assert took_ns(by_pressure) < took_ns(fixed) / 2
    else:
        assert took_ns(by_pressure) < took_ns(fixed) * 1.02
