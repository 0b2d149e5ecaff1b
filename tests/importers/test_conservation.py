"""No line of a file is lost: of every text format, lines in = lines used + kept as text + set aside or left out.

The fuzzer holds damaged files to the same (tests/fuzz/run.py), and counts their lines by itself.
"""

import json

import pytest

from bootlab.importers.importer import Options
from bootlab.importers.registry import read_recording
from bootlab.timeline.line_account import Fate, LineAccount
from tests.fuzz.run import check_account, corpus
from tests.importers.samples import source_of

SAMPLES = {one.name: one for one in corpus()}
# What is no text has no lines: archives, memory.
BINARY = {
    "debian-13/bootchart.tgz", "other-origins/busybox-bootchartd.tgz", "coreboot/timestamps.bin",
    "uboot/qemu-x86.stash", "uboot/qemu-x86_64.stash",
}  # fmt: skip


def account_of(data: bytes, format_name: str | None = None) -> LineAccount:
    source = source_of(data)
    read_recording(source, Options(), format_name)
    account = source.account()
    assert account is not None
    return account


@pytest.mark.parametrize("name", sorted(SAMPLES.keys() - BINARY))
def test_every_line_of_a_sample_is_accounted_for(name: str) -> None:
    sample = SAMPLES[name]
    account = account_of(sample.data)
    check_account(account, sample.data)
    # Of a kernel log without a stamp everything is text.
    assert account.total(Fate.USED) > 0 or "no-time" in name


@pytest.mark.parametrize("name", sorted(BINARY))
def test_what_has_no_lines_has_no_account_of_them(name: str) -> None:
    source = source_of(SAMPLES[name].data)
    read_recording(source, Options())
    assert source.account() is None


@pytest.mark.parametrize(
    "name", ["debian-13/dmesg.txt.xz", "debian-13/systemd-analyze-blame.txt", "ec2/three-runs.txt"]
)
def test_a_line_that_is_none_of_the_formats_is_left_out_with_an_example(name: str) -> None:
    sample = SAMPLES[name]
    before, after = (account_of(data) for data in (sample.data, sample.data + b"\x07 nothing of the kind\n"))
    assert after.count == before.count + 1
    assert after.total(Fate.USED) == before.total(Fate.USED)
    gone = [share for share in after.shares if "nothing of the kind" in share.first]
    assert [share.count for share in gone] == [1] or after.total(Fate.TEXT) == before.total(Fate.TEXT) + 1


def test_records_of_json_are_counted_as_such() -> None:
    data = SAMPLES["debian-13/systemd-analyze-plot.json"].data
    account = account_of(data)
    units, _ = json.JSONDecoder().raw_decode(data.decode())
    assert (account.unit, account.count) == ("units", len(units))


def test_lines_behind_what_an_importer_stopped_at_are_left_out_by_name() -> None:
    source = source_of(b"a\nb\nc\n")
    for _, _row in source.rows():
        source.tally.used("first")
        break
    for _, _row in source.rows():
        source.tally.leave_out("behind")
    account = source.account()
    assert account is not None
    assert [(share.fate, share.count) for share in account.shares] == [(Fate.USED, 1), (Fate.LEFT_OUT, 2)]


def test_a_mail_that_broke_its_lines_is_counted_by_the_lines_it_has() -> None:
    text = (
        "> [    0.000000] Linux version 6.1 =3D\n"
        + "> [    0.100000] x=\n y\n" * 3
        + "> [    1.000000] initcall a+0x0/0x1 returned 0\n> after 12 usecs\n"
    )
    check_account(account_of(text.encode()), text.encode())


def test_a_console_that_is_cut_behind_a_carriage_return_has_that_line() -> None:
    data = SAMPLES["uboot/qemu-x86-console.log"].data + b"\r\n\r"
    check_account(account_of(data), data)
