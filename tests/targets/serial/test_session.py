"""A board on a null modem without a machine behind it: how good its stamps are, and a place of labgrid's."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.report.parts.figures import clock_of
from bootlab.system import read_system
from tests.serial.null_modem import NullModem

LABGRID = r"""#!/bin/sh
# Does what labgrid-client does for a place that nobody has, or somebody else, and for a relay that answers or not.
echo "$*" >>{folder}/calls
case "$*" in
*acquire) [ ! -e {folder}/taken ] || {{ echo "place board-3 is already acquired by lab/erin" >&2; exit 1; }} ;;
*"power on") [ ! -e {folder}/broken ] || {{ echo "relay: no such channel" >&2; exit 1; }}
    printf 'U-Boot 2025.01\nlogin: ' >{machine} ;;
esac
"""


@pytest.fixture
def modem() -> Iterator[NullModem]:
    with NullModem() as modem:
        yield modem


def boot_board(folder: Path, modem: NullModem, target: str, booted: str = "login:") -> BootRecord:
    """Boot what hangs on the null modem."""
    file, directory = folder / "board.toml", folder / "boot"
    directory.mkdir()
    file.write_text(
        f'[machine]\ntype = "armv7-board"\n[target]\nkind = "serial"\nport = "{modem.port}"\noff_s = 0\n{target}\n'
        f'[booted]\nconsole = "{booted}"\ndeadline_s = 30\n'
    )
    return boot(prepare(Workshop(Cache(folder / "cache")), read_system(file)), directory)


@pytest.mark.parametrize("baud", [None, 115200])
def test_marks_are_as_good_as_the_record_says(baud: int | None, tmp_path: Path) -> None:
    lines = [f"stage {number:02d} {'.' * (number % 7 * 9)}" for number in range(40)]
    (tmp_path / "lines").write_text("".join(f"{line}\n" for line in lines))
    marks = "\n".join(f'm{number:02d} = "^stage {number:02d}"' for number in range(40))
    with NullModem(baud, pipe=tmp_path / "line") as modem:
        (tmp_path / "board").write_text(
            f'while read line; do echo "$line"; sleep 0.02; done <{tmp_path}/lines >{modem.machine}'
        )
        power = f"power_on = ['sh', '-c', 'sh {tmp_path}/board &']\n" + (f"baud = {baud}\n" if baud else "")
        record = boot_board(tmp_path, modem, f"{power}[target.marks]\n{marks}", booted="^stage 39")
    assert record.outcome is Outcome.READY, record.detail
    assert record.stamps is not None and record.stamps.late_ns is not None and record.stamps.power_ns > 0
    assert record.stamps.byte_ns == (86806 if baud else 0)
    assert record.stamps.uncertainty_ns == record.stamps.byte_ns + record.stamps.late_ns
    (first,) = modem.times_of(b"stage 00")
    for number in range(1, 40):
        (left,) = modem.times_of(b"stage %02d" % number)
        measured_ns = record.marks[f"m{number:02d}"] - record.marks["m00"]
        within_ns = record.stamps.uncertainty_ns + max(first.doubt_ns, left.doubt_ns)
        assert measured_ns == pytest.approx(left.t_ns - first.t_ns, abs=within_ns), record.stamps
    said = clock_of([record])
    assert f"{record.stamps.late_ns / 1e6:.2f} ms by which this host may have stamped too late" in said
    assert ("good to a byte time, 86.8 us, and" in said) is (baud is not None)


@pytest.fixture
def labgrid(tmp_path: Path, modem: NullModem, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program labgrid-client on PATH; returns its folder, where `taken` and `broken` change what it does."""
    folder = tmp_path / "labgrid"
    folder.mkdir()
    program = folder / "labgrid-client"
    program.write_text(LABGRID.format(folder=folder, machine=modem.machine))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def calls(folder: Path) -> list[str]:
    words = (folder / "calls").read_text().splitlines()
    assert all(line.startswith("-p board-3 ") for line in words)
    return [line.removeprefix("-p board-3 ") for line in words]


def test_a_place_is_acquired_switched_and_released(labgrid: Path, modem: NullModem, tmp_path: Path) -> None:
    record = boot_board(tmp_path, modem, 'labgrid = "board-3"\n[target.marks]\nuboot = "^U-Boot"')
    assert record.outcome is Outcome.READY, record.detail
    assert list(record.marks) == ["power_on", "uboot", "ready"]
    assert record.argv == ["labgrid", "board-3"]
    assert calls(labgrid) == ["acquire", "power off", "power on", "power off", "release"]


def test_a_place_that_somebody_else_has_stays_theirs(labgrid: Path, modem: NullModem, tmp_path: Path) -> None:
    (labgrid / "taken").touch()
    record = boot_board(tmp_path, modem, 'labgrid = "board-3"')
    assert record.outcome is Outcome.NOT_STARTED
    assert "labgrid" in record.detail and "already acquired by lab/erin" in record.detail
    assert calls(labgrid) == ["acquire"], "neither switched off nor released under their hands"


def test_a_place_whose_power_fails_is_released(labgrid: Path, modem: NullModem, tmp_path: Path) -> None:
    (labgrid / "broken").touch()
    record = boot_board(tmp_path, modem, 'labgrid = "board-3"')
    assert record.outcome is Outcome.NOT_STARTED
    assert "relay: no such channel" in record.detail
    assert calls(labgrid) == ["acquire", "power off", "power on", "power off", "release"]
