"""bootchart's tarball and systemd-bootchart's SVG: their own figures, and the lines that break their own readers."""

import io
import struct
import tarfile

import pytest

from bootlab.importers.bootchart import tarball as bootchart
from bootlab.importers.bootchart.proc_stat import DiskSample, parse_disk, parse_process
from bootlab.importers.reading.source import FormatError
from bootlab.timeline.recording import Recording
from tests.importers.samples import read_text, sample

STAT = "({}) S 1 0 0 0 -1 0 0 0 0 0 {} {} 0 0 20 0 1 0 {} 0 0"


def tarball(**files: str | bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            member = tarfile.TarInfo(name.replace("_log", ".log"))
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def chart(**files: str | bytes) -> Recording:
    return read_text(bootchart.IMPORTER, tarball(**files))


def process(pid: int, name: str, *, cpu: int = 0, started: int = 0) -> str:
    return f"{pid} " + STAT.format(name, cpu, 0, started)


def test_a_whole_boot_of_real_proc_files() -> None:
    one = sample("debian-13/bootchart.tgz")
    processes = {span.name: span for span in one.timeline.spans if span.source == "process"}
    assert len([span for span in one.timeline.spans if span.source == "process"]) == 148
    assert processes["systemd"].start_ns == 650_000_000 and "pid 1, " in processes["systemd"].about
    lengths = {(length.source, length.name): length for length in one.lengths}
    assert lengths["disk", "vda"].about == "read 32.4 MB, wrote 6.4 MB"
    # /proc/stat, last less first: 8240 ticks in the kernel.
    assert lengths["all CPUs", "system"].took_ns == 82_400_000_000
    assert "165 samples" in one.notes[0]


def test_names_with_blanks_and_brackets() -> None:
    one = chart(
        proc_ps_log="100\n" + process(7, "tmux: server (a) b", cpu=3) + "\n\n200\n" + process(7, "x) (y") + "\n\n"
    )
    (span,) = one.timeline.spans
    assert (span.name, span.end_ns) == ("x) (y", 2_000_000_000)
    assert parse_process("7 (never ends S 1") is None and parse_process("") is None


def test_counters_beyond_64_bits_are_none() -> None:
    # Found by `make fuzz`: such a one does not become a floating-point number.
    one = chart(proc_ps_log="100\n" + process(7, "x", cpu=10**400) + "\n" + process(8, "y") + "\n\n")
    assert [span.name for span in one.timeline.spans] == ["y"]
    assert any("1 lines were cut" in note for note in one.notes)


@pytest.mark.parametrize("fields", [14, 18, 20])
def test_diskstats_of_every_kernel(fields: int) -> None:
    row = " ".join(["259", "0", "nvme0n1", *map(str, range(1, fields - 2))])
    assert parse_disk(row) == DiskSample("nvme0n1", 3 * 512, 7 * 512, 10)


@pytest.mark.parametrize("name", ["nvme0n1p2", "vda1", "loop0", "mmcblk0p1", "ram3", "dm-0"])
def test_partitions_and_what_is_no_disk_are_left_out(name: str) -> None:
    assert parse_disk(f"8 1 {name} " + "1 " * 15) is None


@pytest.mark.parametrize("name", ["sda", "vdb", "nvme1n1", "mmcblk0", "xvda", "hdc"])
def test_every_kind_of_disk_is_one(name: str) -> None:
    assert parse_disk(f"8 1 {name} " + "1 " * 15) is not None


def test_the_last_block_of_a_collector_that_ended_is_skipped() -> None:
    one = chart(proc_ps_log="100\n" + process(1, "init") + "\n\n900\nbootchart-collector not running\n\n")
    assert one.timeline.spans[0].end_ns == 1_000_000_000
    assert not any("passed over" in note for note in one.notes)


def test_a_pid_that_is_used_again_is_another_process() -> None:
    one = chart(proc_ps_log="100\n" + process(9, "a", started=50) + "\n\n300\n" + process(9, "b", started=200) + "\n\n")
    assert [(span.name, span.start_ns) for span in one.timeline.spans] == [("a", 500_000_000), ("b", 2_000_000_000)]


def test_taskstats_parents_commands_and_accounts() -> None:
    account = struct.pack("<BBHIIIIIIf8H16s", 0, 3, 0, 0, 0, 0, 42, 1, 0, 250.0, *[0] * 8, b"sh\0junk")
    one = chart(
        taskstats_log="100\n42 1 (my task) 5000000 7000000 0\n\n200\n42 1 (my task) 9000000 7000000 0\ncut li\n\n",
        paternity_log="42 17\n",
        cmdline2_log="42\n:/bin/sh\n:sh\0-c\0true\0\n\n",
        kernel_pacct=account + b"\0" * 64,
    )
    (span,) = one.timeline.spans
    assert (span.name, span.start_ns, span.end_ns) == ("my task", 1_000_000_000, 2_000_000_000)
    assert span.about == "pid 42, parent 17, CPU 9 ms; waited for disks 7 ms; sh -c true"
    ended = [length for length in one.lengths if length.source == "accounted process"]
    assert [(length.name, length.took_ns) for length in ended] == [("sh", 2_500_000_000)]
    assert any("1 lines were cut" in note for note in one.notes)


def test_a_header_that_claims_four_gigabytes_is_not_believed() -> None:
    data = bytearray(tarball(proc_ps_log="100\n" + process(1, "init") + "\n\n"))
    data[124:136] = b"40000000000\0"
    data[148:156] = b" " * 8
    data[148:155] = b"%06o\0" % sum(data[:512])
    with pytest.raises(FormatError, match="^x: expected"):
        read_text(bootchart.IMPORTER, bytes(data))


@pytest.mark.parametrize("data", [b"", b"x" * 3000, tarball(readme="hello"), tarball(proc_ps_log="x")[:700]])
def test_what_is_no_chart_is_refused(data: bytes) -> None:
    with pytest.raises(FormatError, match="^x: expected"):
        read_text(bootchart.IMPORTER, data)


def test_a_process_that_was_seen_before_it_says_it_began() -> None:
    one = chart(
        proc_ps_log="100\n" + process(7, "x", started=900) + "\n\n200\n" + process(7, "x", started=900) + "\n\n"
    )
    (span,) = one.timeline.spans
    assert (span.start_ns, span.end_ns) == (1_000_000_000, 2_000_000_000)


def test_a_kernel_log_without_initcalls_gets_no_note_of_their_clock() -> None:
    one = chart(proc_ps_log="100\n" + process(7, "x") + "\n\n", dmesg="[    0.000000] Linux version 6\n")
    assert not any("printk's clock" in note for note in one.notes)
