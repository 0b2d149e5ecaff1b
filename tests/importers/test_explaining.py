"""How a file is read, told with counts that add up; and what a file of no format is nearest to."""

import pytest

from bootlab.importers.explaining import Explanation, explain
from bootlab.importers.importer import Options
from tests.fuzz.run import check_account
from tests.importers.samples import DATA, source_of


def told(data: bytes, format_name: str | None = None) -> Explanation:
    return explain(source_of(data), Options(), format_name)


def test_a_kernel_log_is_told_by_its_line_and_adds_up() -> None:
    data = (DATA / "serial-initcall_debug.log").read_bytes()
    one = told(data)
    assert one.format == "dmesg" and one.told in data.decode() and not one.nearest and not one.error
    assert dict(one.made)["initcall (with a place)"] == 575
    assert one.account is not None
    check_account(one.account, data)
    # Two lines for each initcall, and by grep one for each probe.
    probes = sum(b"probe of " in row and b" returned " in row for row in data.split(b"\n"))
    (share,) = [share for share in one.account.shares if share.what.startswith("beginnings and ends")]
    assert share.count == 2 * 575 + probes and probes == 13


def test_an_archive_has_no_lines() -> None:
    one = told((DATA / "debian-13" / "bootchart.tgz").read_bytes())
    assert one.account is None and one.told.startswith("a tar archive with ")


def test_formats_that_would_do_too_are_named() -> None:
    one = told((DATA / "uboot" / "orangepi-pc-console.log").read_bytes(), "bootstage")
    assert one.format == "bootstage" and one.told == "" and "dmesg" in one.also


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("RunInstances API call took 0.5\nMoving from pending to running took 1.5\n", "ec2-boot-bench"),
        ("M - APPSBL Start -  :1.221 minutes\nM - APPSBL End -  :1.321 minutes\n", "boot-kpi"),
        ("0xffffffff8251db00 14119002 ENTERED hammer_time\n0xffffffff8251db00 14119009 LEFT hammer_time\n", "tslog"),
    ],
)
def test_an_unknown_file_gets_the_three_nearest_and_why_not(text: str, name: str) -> None:
    one = told(text.encode())
    assert one.format == "" and one.account is None
    assert len(one.nearest) == 3 and name in [near.name for near in one.nearest]
    assert all(len(near.why_not) > 10 and not near.why_not.startswith("x:") for near in one.nearest)


def test_a_recognised_file_that_cannot_be_read_says_why() -> None:
    one = told(b"Startup finished in 3 parsecs (kernel)\n")
    assert one.format == "systemd-analyze" and "expected spans such as" in one.error and len(one.nearest) == 3


def test_bytes_are_near_to_something_without_harm() -> None:
    assert len(told(bytes(range(256)) * 200).nearest) == 3
