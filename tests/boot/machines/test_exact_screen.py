"""What is seen on a screen and typed on a keyboard, at times of the virtual clock: boots with it repeat, pictures too.

The guest paints a login window of letters, takes a name and a password, and works until it is at rest (screen_work/).
"""

import shutil
from pathlib import Path

import pytest
from PIL import Image

from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.experiments.from_mark import beginning_at, differences
from bootlab.experiments.store import RunKind, Store
from bootlab.measure.boot import boot
from bootlab.measure.place import Here
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.profile.recorded.trace import read_trace
from bootlab.system import System, read_system
from bootlab.system.screen import keyboard
from bootlab.targets.target import Prepared

pytestmark = pytest.mark.boot

SOURCES = Path(__file__).parent / "screen_work"
SEEN = ["begun", "window", "name", "answers", "password", "rest"]
"""The marks of a boot, in their order."""


def screen_work(folder: Path, *changes: tuple[str, str]) -> System:
    """Return the system of screen_work/ with its text changed."""
    folder.mkdir()
    shutil.copy(SOURCES / "init", folder)
    text = (SOURCES / "system.toml").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "system.toml").write_text(text)
    return read_system(folder / "system.toml")


def boot_once(system: System, shop: Workshop, directory: Path) -> BootRecord:
    directory.mkdir()
    return boot(prepare(shop, system), directory)


def told(record: BootRecord) -> dict[str, object]:
    """Return all that must repeat: marks, frames, and the pictures of marks up to ready."""
    assert record.screen is not None
    pictures = [
        (one.mark, one.t_ns, one.pixels_sha256, (Path(record.run) / one.file).read_bytes())
        for one in record.screen.pictures
        if one.t_ns <= record.marks["ready"]
    ]
    marks = {name: record.marks[name] for name in (*SEEN, "ready")}
    return {"marks": marks, "frames": record.screen.frames_up_to, "pictures": pictures, "key": record.key}


@pytest.mark.parametrize("display", ["VGA", "bochs-display"])
def test_three_boots_are_alike_to_the_pixel(display: str, shop: Workshop, tmp_path: Path) -> None:
    changes = [] if display == "VGA" else [
        ('"VGA"', '"bochs-display"'), ('compression = "none"', 'compression = "none"\nmodules = ["bochs"]'),
        ("linux-image-cloud-amd64", "linux-image-amd64"),
    ]  # fmt: skip
    system = screen_work(tmp_path / "system", *changes)
    records = [boot_once(system, shop, tmp_path / str(number)) for number in (1, 2, 3)]
    for record in records:
        assert record.outcome is Outcome.READY, record.detail
        assert told(record) == told(records[0])
    first = records[0]
    times = [first.marks[name] for name in SEEN]
    assert times == sorted(times) and first.marks["ready"] == first.marks["rest"]
    assert first.screen is not None and {"window", "answers", "rest"} <= first.screen.frames_up_to.keys()
    assert not first.remarks
    # The window is there, blue on black; at rest it is gone, and green says so.
    seen = {one.mark: Image.open(Path(first.run) / one.file).convert("RGB") for one in first.screen.pictures}
    blue, green = ((0, 0, 168), (0, 168, 0)) if display == "VGA" else ((0, 0, 170), (0, 170, 0))
    assert blue in colours(seen["window"]) and green in colours(seen["rest"])
    assert blue not in colours(seen["rest"]) and green not in colours(seen["window"])
    assert seen["name"].tobytes() != seen["window"].tobytes()


def colours(image: Image.Image) -> set[tuple[int, ...]]:
    return {colour for _, colour in image.getcolors(1 << 24) or [] if isinstance(colour, tuple)}


def test_looks_are_not_noticed(shop: Workshop, tmp_path: Path) -> None:
    """A guest that nobody types to is the same one, to the nanosecond, whether its screen is looked at or not."""
    only_begun = 'mark = "begun"'
    text = (SOURCES / "system.toml").read_text()
    typed = text[text.index("[screen.typed.name]") : text.index("[booted]")]
    check = text[text.index("[check]") :]
    quiet = [(typed, ""), (check, ""), ('mark = "rest"', only_begun)]
    looked = screen_work(tmp_path / "looked", *quiet)
    unseen = looked.model_copy(update={"screen": None})
    traces = []
    for name, system in (("a", looked), ("b", unseen)):
        record = boot_once(system, shop, tmp_path / name)
        assert record.outcome is Outcome.READY, record.detail
        lines = (tmp_path / name / "trace.txt").read_text().splitlines()
        traces.append([line for line in lines if line != "exact screen" and not line.startswith("frames ")])
    assert traces[0] == traces[1]


def test_without_a_check_the_boot_ends_as_the_mark_is_certain(shop: Workshop, tmp_path: Path) -> None:
    text = (SOURCES / "system.toml").read_text()
    system = screen_work(tmp_path / "system", (text[text.index("[check]") :], ""))
    records = [boot_once(system, shop, tmp_path / str(number)) for number in (1, 2)]
    assert [record.outcome for record in records] == [Outcome.READY, Outcome.READY], records[0].detail
    ends = [read_trace(tmp_path / str(number) / "trace.txt").end for number in (1, 2)]
    assert ends[0] is not None and ends[0] == ends[1]
    # 300 ms of rest, and the look after them.
    assert 300_000_000 <= ends[0].t_ns - records[0].marks["rest"] <= 320_000_000
    assert told(records[0]) == told(records[1])


def test_a_picture_of_one_boot_is_the_mark_of_another(shop: Workshop, tmp_path: Path) -> None:
    first = boot_once(screen_work(tmp_path / "first"), shop, tmp_path / "1")
    assert first.screen is not None
    picture = next(Path(first.run) / one.file for one in first.screen.pictures if one.mark == "window")
    words = f'picture = "{picture}"\nregion = [180, 140, 200, 20]'
    record = boot_once(screen_work(tmp_path / "second", ("colours = 3\nstays_ms = 200", words)), shop, tmp_path / "2")
    assert record.outcome is Outcome.READY, record.detail
    # The same frame, known at once and not when it has stayed.
    assert record.marks["window"] == first.marks["window"]
    assert record.marks["name"] < first.marks["name"]


def test_a_login_that_is_refused_is_a_failed_check_with_its_picture(shop: Workshop, tmp_path: Path) -> None:
    record = boot_once(screen_work(tmp_path / "system", ("Secret 7", "secret 7")), shop, tmp_path / "1")
    assert record.outcome is Outcome.CHECK_FAILED
    assert "refused" in record.detail
    assert record.screen is not None
    # Behind it comes what was there last.
    last = max((one for one in record.screen.pictures if one.mark), key=lambda one: one.t_ns)
    assert last.mark == "password"


def last_picture(record: BootRecord, mark: str | None = None) -> Image.Image:
    """Return the last picture of a mark, without one the last of all."""
    assert record.screen is not None
    found = [one for one in record.screen.pictures if mark is None or one.mark == mark]
    with Image.open(Path(record.run) / max(found, key=lambda one: one.t_ns).file) as picture:
        return picture.convert("RGB")


def test_a_service_that_fails_is_a_failed_check_with_what_it_left_on_the_screen(shop: Workshop, tmp_path: Path) -> None:
    failing = ("cryptomgr.notests", "cryptomgr.notests service=false")
    film = ("[screen.marks.window]", "[screen]\nfilm_ms = 50\n[screen.marks.window]")
    record = boot_once(screen_work(tmp_path / "system", failing, film), shop, tmp_path / "1")
    assert record.outcome is Outcome.CHECK_FAILED and "the service" in record.detail
    assert "rest" not in record.marks
    assert colours(last_picture(record)) > colours(last_picture(record, "answers")), "red, below what was typed"


def test_a_screen_saver_that_is_sooner_than_the_rest_shows_in_its_picture(shop: Workshop, tmp_path: Path) -> None:
    """The console goes blank a second behind the last key; a rest of two seconds is one of a black screen."""
    blank = ("cryptomgr.notests", "cryptomgr.notests consoleblank=1")
    system = screen_work(tmp_path / "system", blank, ("quiet_ms = 300", "quiet_ms = 2000"))
    record = boot_once(system, shop, tmp_path / "1")
    assert record.outcome is Outcome.READY, record.detail
    assert len(colours(last_picture(record, "rest"))) == 1 < len(colours(last_picture(record, "window")))
    assert record.marks["rest"] - record.marks["password"] > 500_000_000


def test_a_screen_that_is_never_painted_is_never_ready(shop: Workshop, tmp_path: Path) -> None:
    system = screen_work(tmp_path / "system", ("colours = 3", "colours = 200"), ("deadline_s = 240", "deadline_s = 45"))
    record = boot_once(system, shop, tmp_path / "1")
    assert record.outcome is Outcome.HUNG
    assert record.screen is not None and not record.screen.frames_up_to
    assert record.screen.pictures and all(one.mark is None for one in record.screen.pictures)


def test_what_was_there_last_is_kept_of_a_boot_whose_film_is_full(shop: Workshop, tmp_path: Path) -> None:
    """A picture each 50 ms of a screen that never stands still: there is room for 240, and then for the last."""
    film = ("[screen.marks.window]", "[screen]\nfilm_ms = 50\n[screen.marks.window]")
    screen_work(tmp_path / "system", film, ("colours = 3", "colours = 200"), ("deadline_s = 240", "deadline_s = 60"))
    init = tmp_path / "system/init"
    counts = "i=0; while [ $i -lt 300 ]; do echo $i; sleep 0.06; i=$((i + 1)); done; printf '\\033[2J\\033[41mlast'\n"
    init.write_text(init.read_text().replace("read -r name\n", f"{counts}read -r name\n"))
    record = boot_once(read_system(tmp_path / "system/system.toml"), shop, tmp_path / "1")
    assert record.outcome is Outcome.HUNG and record.screen is not None
    assert len(record.screen.pictures) == 241 and record.screen.lost > 0
    assert "its screen has not shown window since begun at " in record.detail
    assert record.screen.pictures[-1].t_ns > record.screen.pictures[-2].t_ns + 2_000_000_000
    assert any(red > 100 > green for red, green, _ in colours(last_picture(record))), "behind all that was counted"


def test_a_key_that_qemu_has_not_got_is_named(shop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # An older QEMU has fewer than are known here.
    monkeypatch.setattr(keyboard, "KEYS", keyboard.KEYS | {"nokey"})
    system = screen_work(tmp_path / "system", ('text = "guest"', 'keys = ["nokey"]'), ("240", "45"))
    record = boot_once(system, shop, tmp_path / "1")
    assert record.outcome is Outcome.HUNG
    assert "the screen is not looked at, and nothing is typed: this QEMU knows no key 'nokey'" in record.remarks
    # All else works as it did.
    assert "begun" in record.marks
    assert read_trace(tmp_path / "1" / "trace.txt").looks is None


READS = "dd if=/dev/vda of=/dev/null bs=1M count=1 skip={} iflag=direct 2>/dev/null\n"
DISK = ("[booted]", "[[disks]]\nsize_mib = 8\n\n[booted]")
DRIVERS = ('compression = "none"', 'compression = "none"\nmodules = ["virtio_pci", "virtio_blk"]')


def reading(folder: Path, *places: str) -> System:
    """Return the system with a disk, of which it reads a MiB ahead of each of these lines of its program."""
    system = screen_work(folder, DISK, DRIVERS)
    init = (folder / "init").read_text()
    for number, place in enumerate(places, 1):
        assert init.count(place) == 1
        init = init.replace(place, READS.format(number) + place)
    (folder / "init").write_text(init)
    return system


def test_what_was_read_up_to_a_mark_of_the_screen_is_what_was_read_by_its_moment(
    shop: Workshop, tmp_path: Path
) -> None:
    system = reading(tmp_path / "work", "printf '\\033[13;30H", "printf '\\033[2J\\033[42;37m")
    record = boot_once(system, shop, tmp_path / "boot")
    assert record.outcome is Outcome.READY, record.detail
    read = record.read_up_to
    assert read["window"] == read["name"] == read["answers"], "no more was read until Enter was pressed"
    assert read["password"] - read["answers"] == 1 << 20
    assert sum(phase.read_bytes or 0 for phase in record.phases) - read["password"] == 1 << 20, "and once up to rest"


def from_late_and_whole(prepared: Prepared, folder: Path) -> tuple[BootRecord, BootRecord]:
    """Return a boot that went on from its mark `late`, and the same one from power-on."""
    run = Store(folder).start(RunKind.TRY, "screen", {})
    with beginning_at(run, "late", lambda line: None) as beginnings:
        assert beginnings is not None
        one = beginnings.boot(Here(1), prepared, "one", lambda: False, keeps=True)
        whole = Here(1).boot(prepared, run.boot_directory("whole"), lambda: False)
        assert one.outcome is Outcome.READY and one.began is not None, (one.detail, beginnings.result())
    return one, whole


def test_a_mark_is_of_before_the_one_that_a_boot_began_at(shop: Workshop, tmp_path: Path) -> None:
    """The window is painted, then a MiB is read; the boot goes on from there, and then knows that the window stays."""
    reading(tmp_path / "work", "read -r name")
    init = (tmp_path / "work/init").read_text()
    seen = init.replace("dd if", "sleep 0.1\ndd if", 1).replace("read -r name", "bootlab-mark late\nread -r name", 1)
    (tmp_path / "work/init").write_text(seen)
    one, whole = from_late_and_whole(prepare(shop, read_system(tmp_path / "work/system.toml")), tmp_path)
    assert one.marks["window"] < one.marks["late"] and differences(one, whole) == []
    assert one.read_up_to["late"] - one.read_up_to["window"] == 1 << 20


def test_a_boot_from_a_mark_sees_and_types_what_one_from_power_on_does(shop: Workshop, tmp_path: Path) -> None:
    """Kept in the middle of it: a window was seen, a name typed, a password is; rest is to come."""
    screen_work(tmp_path / "work")
    init = (tmp_path / "work/init").read_text()
    (tmp_path / "work/init").write_text(init.replace("\ni=0\n", "\nbootlab-mark late\ni=0\n"))
    prepared = prepare(shop, read_system(tmp_path / "work/system.toml"))
    one, whole = from_late_and_whole(prepared, tmp_path)
    assert one.marks["password"] < one.marks["late"] < one.marks["rest"]
    assert told(one) == told(whole)
    looks = [read_trace(Path(record.run) / "trace.txt").looks for record in (one, whole)]
    assert looks[0] is not None and looks[1] is not None and looks[0].frames >= len(SEEN)
    assert differences(one, whole) == []
    with pytest.raises(InputError, match="answers: a mark of the screen"):
        prepared.expect_beginning("answers")
