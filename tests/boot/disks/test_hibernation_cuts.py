"""Power cuts at a thousand moments of one hibernation: all judged on the host, and one of each kind booted.

Judged by the bytes: there is no image; all of it is there; some of it is not, though the swap area says that it is
there, for the kernel announces an image before what it wrote of it has to be on the disk. The first begins cold, the
second goes on, and the third begins cold and says why. The root is harmed by none of them.
"""

import random
import subprocess
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import pytest

from bootlab.build.workshop import Workshop
from bootlab.findings.power_cuts import PowerCut, cut_power, requests_of
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.profile.recorded.disk_requests import WRITES, DiskRequest
from bootlab.system import System, read_system

pytestmark = [pytest.mark.boot, pytest.mark.network]

CUTS = 1000
SYSTEM = Path(__file__).parent / "hibernation_cuts" / "system.toml"
DISKS = ("rootfs", "disk0")
PAGE, SECTOR = 4096, 512
NOTE_BYTES = 2 * PAGE
NO_IMAGE, ANNOUNCED = b"SWAPSPACE2", b"S1SUSPEND\0"


class Left(StrEnum):
    NOTHING = "no image"
    WHOLE = "a whole image"
    PART = "a part of an image that is announced as whole"


@dataclass(frozen=True)
class Hibernation:
    """The one boot that hibernates, and what it wrote to each disk."""

    system: System
    folder: Path
    record: BootRecord
    before: dict[str, Path]
    requests: dict[str, list[DiskRequest]]
    written: list[tuple[int, bytes]]
    """Of the swap disk: the last bytes of every sector that was written, by where it is."""

    @property
    def over_ns(self) -> int:
        return 1 + max(request.done_ns for requests in self.requests.values() for request in requests)

    def moments(self, count: int) -> list[int]:
        """Return moments from the first write on, and a tenth of them once the image is announced, its last write."""
        asked = [request.asked_ns for request in self.requests["disk0"] if request.operation == "write"]
        dice = random.Random(28)
        late = [dice.randint(max(asked) + 1, self.over_ns) for _ in range(count // 10)]
        return [dice.randint(min(asked), self.over_ns) for _ in range(count - len(late))] + late

    def cut(self, drive: str, cut: PowerCut, image: Path) -> Path:
        subprocess.run(["cp", "--sparse=always", self.before[drive], image], check=True)
        cut_power(self.folder, self.requests[drive], cut, image)
        return image

    def judge(self, swap: Path) -> Left:
        with swap.open("rb") as file:
            file.seek(PAGE - len(NO_IMAGE))
            if (says := file.read(len(NO_IMAGE))) == NO_IMAGE:
                return Left.NOTHING
            assert says == ANNOUNCED, says
            for at, expected in self.written:
                file.seek(at)
                if file.read(len(expected)) != expected:
                    return Left.PART
        return Left.WHOLE

    def has_note(self, swap: Path) -> bool:
        """Return whether the agent's note is as it was written, behind the swap area."""
        at = swap.stat().st_size - NOTE_BYTES
        with swap.open("rb") as file:
            file.seek(at)
            found = file.read(NOTE_BYTES)
        note = {place - at: data for place, data in self.written if place >= at}
        assert note
        return all(found[place : place + SECTOR] == data for place, data in note.items())

    def whole(self, drive: str, image: Path) -> Path:
        """Return the disk where there was no cut: a cache is written out as a machine is switched off."""
        image = self.cut(drive, PowerCut(0, 0), image)
        with (self.folder / WRITES).open("rb") as writes, image.open("r+b") as disk:
            for request in self.requests[drive]:
                if request.operation == "write" and request.offset is not None:
                    writes.seek(request.offset)
                    disk.seek(request.sector * SECTOR)
                    disk.write(writes.read(request.sectors * SECTOR))
        return image

    def boot(self, shop: Workshop, cut: PowerCut | None, folder: Path) -> BootRecord:
        """Boot with the disks as the cut leaves them; None: as they are without one."""
        folder.mkdir()
        images = {drive: folder / f"{drive}.img" for drive in DISKS}
        made = [self.whole(name, to) if cut is None else self.cut(name, cut, to) for name, to in images.items()]
        root, swap = made
        model = self.system.disks[0].model
        parts = {
            "name": "after-the-cut",
            "rootfs": {"path": root, "model": model},
            "disks": ({"path": swap, "model": model},),
        }
        again = System.model_validate({**dict(self.system), **parts})
        return boot(prepare(shop, again), folder)


@pytest.fixture(scope="module")
def hibernation(tmp_path_factory: pytest.TempPathFactory, shop: Workshop) -> Hibernation:
    folder = tmp_path_factory.mktemp("hibernation")
    system = read_system(SYSTEM)
    words = f"{system.kernel.cmdline} bootlab.sleep=disk:/dev/vdb"
    asleep = prepare(shop, system.with_part("kernel", cmdline=words).with_part("booted", mark="woke"))
    record = boot(asleep, folder)
    assert record.outcome is Outcome.NOT_READY and "hibernating" in record.marks, record.detail
    before = dict(zip(DISKS, asleep.files.disks, strict=True))
    requests = {drive: requests_of(folder, drive) for drive in DISKS}
    sectors: dict[int, bytes] = {}
    with (folder / WRITES).open("rb") as writes:
        for request in requests["disk0"]:
            if request.operation == "write":
                assert request.offset is not None
                writes.seek(request.offset)
                for sector in range(request.sector, request.sector + request.sectors):
                    sectors[sector * SECTOR] = writes.read(SECTOR)
    return Hibernation(system, folder, record, before, requests, list(sectors.items()))


@pytest.fixture(scope="module")
def judged(hibernation: Hibernation, tmp_path_factory: pytest.TempPathFactory) -> dict[Left, list[PowerCut]]:
    found: dict[Left, list[PowerCut]] = {}
    image = tmp_path_factory.mktemp("cuts") / "swap.img"
    for seed, t_ns in enumerate(hibernation.moments(CUTS)):
        cut = PowerCut(t_ns, seed)
        found.setdefault(hibernation.judge(hibernation.cut("disk0", cut, image)), []).append(cut)
    print({left.value: len(cuts) for left, cuts in found.items()})
    return found


def test_an_image_without_a_cut_is_whole_and_taken(hibernation: Hibernation, shop: Workshop, tmp_path: Path) -> None:
    assert hibernation.judge(hibernation.whole("disk0", tmp_path / "swap.img")) is Left.WHOLE
    record = hibernation.boot(shop, None, tmp_path / "boot")
    assert record.outcome is Outcome.READY and record.facts["hibernation"] == "resumed", record.detail
    assert record.facts["starts"] == "1"


@pytest.mark.parametrize(("left", "booted"), [(Left.NOTHING, 2), (Left.PART, 4)])
def test_what_a_cut_leaves_is_not_taken(
    left: Left,
    booted: int,
    hibernation: Hibernation,
    judged: dict[Left, list[PowerCut]],
    shop: Workshop,
    tmp_path: Path,
) -> None:
    assert Left.WHOLE not in judged and sum(map(len, judged.values())) == CUTS
    for number, cut in enumerate(judged[left][:booted]):
        record = hibernation.boot(shop, cut, tmp_path / str(number))
        assert record.outcome is Outcome.READY and "woke" not in record.marks, (cut, record.detail)
        assert ("hibernation_refused" in record.marks) == (left is Left.PART), cut
        # The start that was to go on may be on the disk, or not yet; this one is.
        assert record.facts["starts"] in ("1", "2"), cut


def test_the_root_is_whole_after_every_cut(hibernation: Hibernation, tmp_path: Path) -> None:
    for seed, t_ns in enumerate(hibernation.moments(50)):
        image = hibernation.cut("rootfs", PowerCut(t_ns, seed), tmp_path / "root.img")
        replayed = subprocess.run(["e2fsck", "-y", "-E", "journal_only", image], capture_output=True, check=False)
        checked = subprocess.run(["e2fsck", "-f", "-n", image], capture_output=True, text=True, check=False)
        assert replayed.returncode in (0, 1) and checked.returncode == 0, (t_ns, checked.stdout)


def test_the_note_is_there_whenever_an_image_is_announced(
    hibernation: Hibernation, judged: dict[Left, list[PowerCut]], tmp_path: Path
) -> None:
    """The agent has it flushed before the kernel writes; a disk that only says so shows that this could fail."""
    swap = tmp_path / "swap.img"
    lying = [PowerCut(hibernation.over_ns, seed, ignores_flush=True) for seed in range(50)]
    kept = [hibernation.has_note(hibernation.cut("disk0", cut, swap)) for cut in (*judged[Left.PART], *lying)]
    assert all(kept[: -len(lying)]) and kept[-len(lying) :].count(False) > 10
