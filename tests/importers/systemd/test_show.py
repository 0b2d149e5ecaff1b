"""systemctl show: every phase, exactly."""

import pytest

from bootlab.importers.systemd import show as systemd_show
from tests.importers.samples import phases_ms, read_text, sample
from tests.importers.systemd.printed import MS


def test_show_gives_the_phases_that_plot_json_leaves_out() -> None:
    one = sample("debian-13/systemctl-show.txt")
    assert [(phase.name, phase.duration_ns) for phase in one.phases] == [
        ("kernel", 7_170_581_000), ("userspace", 36_584_987_000 - 7_170_581_000),
    ]  # fmt: skip


def test_firmware_and_loader_count_backwards_from_the_kernel() -> None:
    rows = "\n".join(f"{name}TimestampMonotonic={us}" for name, us in {
        "Firmware": 9_000_000, "Loader": 2_000_000, "Kernel": 0, "InitRD": 3_000_000, "Userspace": 5_000_000,
        "Finish": 11_000_000, "InitRDSecurityStart": 3_100_000, "InitRDSecurityFinish": 3_200_000,
        "WatchdogLastPing": 18446744073709551615,
    }.items())  # fmt: skip
    one = read_text(systemd_show.IMPORTER, rows)
    assert [(phase.name, phase.start_ns // MS, phase.end_ns // MS) for phase in one.phases] == [
        ("firmware", -9_000, -2_000), ("loader", -2_000, 0), ("kernel", 0, 3_000), ("initrd", 3_000, 5_000),
        ("userspace", 5_000, 11_000),
    ]  # fmt: skip
    assert [span.name for span in one.timeline.spans] == ["initrd: security"]


def test_an_initramfs_with_systemd_is_a_phase() -> None:
    # dracut's: Startup finished in 34.030s (kernel) + 2min 58.698s (initrd) + 2min 588ms (userspace) = 5min 33.316s
    told = sample("debian-13-dracut/systemd-analyze-time.txt")
    assert phases_ms(told) == {"kernel": 34_030, "initrd": 178_698, "userspace": 120_588}
    assert not any("initramfs without systemd" in note for note in told.notes)
    exact = phases_ms(sample("debian-13-dracut/systemctl-show.txt"))
    assert list(exact) == ["kernel", "initrd", "userspace"]
    # Of `time` the milliseconds are cut off; a bar of `plot` ends at a thousandth of a step of 10 ms.
    drawn = phases_ms(sample("debian-13-dracut/systemd-analyze-plot.svg.xz"))
    for name, told_ms in phases_ms(told).items():
        assert told_ms <= exact[name] < told_ms + 1 and drawn[name] == pytest.approx(exact[name], abs=0.02)
    assert {span.name for span in sample("debian-13-dracut/systemctl-show.txt").timeline.spans} >= {
        "initrd: security", "initrd: generators", "initrd: units load", "security", "generators", "units load",
    }  # fmt: skip
