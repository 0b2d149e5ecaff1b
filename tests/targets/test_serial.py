"""A board on a null modem without a machine behind it: how good its stamps are."""

from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.report.figures import clock_of
from bootlab.system import read_system
from tests.serial.null_modem import NullModem


def boot_board(folder: Path, modem: NullModem, target: str, booted: str = "login:") -> BootRecord:
    """Boot what hangs on the null modem."""
    file, directory = folder / "board.toml", folder / "boot"
    directory.mkdir()
    file.write_text(
        f'[machine]\ntype = "armv7-board"\n[target]\nkind = "serial"\nport = "{modem.port}"\noff_s = 0\n{target}\n'
        f'[booted]\nconsole = "{booted}"\ndeadline_s = 30\n'
    )
    return boot(prepare(read_system(file), Cache(folder / "cache")), directory)


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
