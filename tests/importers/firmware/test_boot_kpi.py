"""Qualcomm's boot markers: moments and lengths on the clock that runs from power-on."""

import pytest

from bootlab.importers.reading.source import FormatError
from tests.importers.samples import DATA, phases_ms, recording_of, sample

TEXT = (DATA / "android" / "kpi_values.txt").read_text()


def test_loader_kernel_and_programs_are_on_one_clock() -> None:
    boot = sample("android/kpi_values.txt")
    assert phases_ms(boot) == {
        "before the first marker": 1221, "from APPSBL Start": 590, "from APPSBL End": 566,
        "from DRIVER GENI_HS_UART_0 Init": 233, "from DRIVER F/S Init": 61, "from DRIVER F/S Ready": 433,
        "from DRIVER Kernel Boot Done": 287,
    }  # fmt: skip
    # What is called a time is no moment.
    assert {one.name: one.took_ns for one in boot.lengths} == {
        "D - APPSBL Kernel Load Time": 287_000_000, "D - APPSBL Kernel Auth Time": 64_000_000,
    }  # fmt: skip
    assert len(boot.timeline.events) == 9


def test_the_rows_of_some_cars() -> None:
    boot = recording_of(b"101 KPI_MARKER 2s013000488ns SYS_FS_INIT\n111 KPI_MARKER 5s100000000ns HMI_Weston_Start\n")
    assert [(one.name, one.t_ns) for one in boot.timeline.events] == [
        ("SYS_FS_INIT", 2_013_000_488), ("HMI_Weston_Start", 5_100_000_000),
    ]  # fmt: skip


def test_several_boots_in_one_file() -> None:
    boot = recording_of((TEXT * 3).encode())
    assert boot.phases == sample("android/kpi_values.txt").phases
    assert boot.notes == ("The file holds 3 boots; this is the first.",)


def test_no_markers() -> None:
    with pytest.raises(FormatError, match="M - APPSBL Start"):
        recording_of(b"M - APPSBL Start - : soon\n", format_name="boot-kpi")
