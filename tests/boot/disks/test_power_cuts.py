"""Power cuts at random moments of one boot: what was promised to be on the disk is there, and the file system is whole.

The guest writes files, has each put on the disk, and marks when that is promised (power_cuts/).
"""

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from bootlab.build.workshop import Workshop
from bootlab.findings.power_cuts import PowerCut, cut_power, requests_of
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import read_system

pytestmark = [pytest.mark.boot, pytest.mark.network]

CUTS = 200
SYSTEM = Path(__file__).parent / "power_cuts" / "system.toml"


class CutBoot:
    """The one boot, and images of its disk after cuts."""

    def __init__(self, shop: Workshop, folder: Path) -> None:
        prepared = prepare(shop, read_system(SYSTEM))
        self.boot, self.image = folder / "boot", folder / "cut.img"
        self.boot.mkdir()
        self.record: BootRecord = boot(prepared, self.boot)
        self.before = prepared.files.disks[0]
        self.requests = requests_of(self.boot, "disk0")

    def failures_after(self, cut: PowerCut) -> list[str]:
        """Return what is wrong with the disk after a cut: files that were promised, and what e2fsck says."""
        shutil.copy(self.before, self.image)
        cut_power(self.boot, self.requests, cut, self.image)
        replayed = self.look("e2fsck", "-y", "-E", "journal_only")
        checked = self.look("e2fsck", "-f", "-n")
        wrong = [] if replayed.returncode in (0, 1) and checked.returncode == 0 else [checked.stdout]
        kept = [n for n in range(1, 41) if self.record.marks[f"kept-{n}"] <= cut.t_ns]
        for number in kept[-5:]:
            text = "".join(f"{line}\n" for line in range(number, number + 500 * (number % 4) + 2))
            if self.look("debugfs", "-R", f"cat /{number % 7}/{number}").stdout != text:
                wrong.append(f"file {number} was promised")
        return wrong

    def look(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a program of e2fsprogs on the image."""
        return subprocess.run([*words, self.image], capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture(scope="module")
def cut_boot(tmp_path_factory: pytest.TempPathFactory, shop: Workshop) -> CutBoot:
    made = CutBoot(shop, tmp_path_factory.mktemp("cuts"))
    assert made.record.outcome is Outcome.READY and len(made.requests) > 400, made.record.detail
    return made


def moments(booted: CutBoot, count: int) -> list[int]:
    first = min(request.asked_ns for request in booted.requests if request.operation == "write")
    chance = random.Random(25)
    return [chance.randint(first, booted.record.marks["ready"]) for _ in range(count)]


def test_a_cut_at_any_moment_leaves_all_that_was_promised(cut_boot: CutBoot) -> None:
    for number, t_ns in enumerate(moments(cut_boot, CUTS)):
        wrong = cut_boot.failures_after(PowerCut(t_ns, seed=number))
        assert not wrong, (t_ns, wrong)


def test_a_disk_that_does_not_flush_is_found_out(cut_boot: CutBoot) -> None:
    """The test above must be able to fail."""
    cuts = [PowerCut(t_ns, number, ignores_flush=True) for number, t_ns in enumerate(moments(cut_boot, 20))]
    assert sum(bool(cut_boot.failures_after(cut)) for cut in cuts) > 10
