"""strace of a VMM: its requests to KVM with their times, the way to the first KVM_RUN, calls that are cut in two."""

import subprocess
import sys
from pathlib import Path

import pytest

from bootlab.importers.reading.source import FormatError
from bootlab.importers.reading.tally import Tally
from bootlab.importers.vmm.strace import CREATE_VM, IMPORTER, RUN, parse
from tests.importers.samples import DATA, phases_ms, read_text, sample

TEXT = (DATA / "vmm" / "qemu-10.0.strace").read_text()
TWO_THREADS = """\
7 100.000000000 ioctl(3</dev/kvm>, KVM_CREATE_VM, 0) = 8<anon_inode:kvm-vm> <0.020000000>
7 100.030000000 ioctl(8<anon_inode:kvm-vm>, KVM_CREATE_VCPU, 0) = 9<anon_inode:kvm-vcpu:0> <0.001000000>
8 100.040000000 ioctl(9<anon_inode:kvm-vcpu:0>, KVM_RUN <unfinished ...>
7 100.050000000 ioctl(8<anon_inode:kvm-vm>, KVM_IRQ_LINE, 0x7ffd) = 0 <0.000100000>
8 100.090000000 <... ioctl resumed>, 0) = -1 EINTR (Interrupted system call) <0.050000000>
8 100.100000000 ioctl(9<anon_inode:kvm-vcpu:0>, KVM_RUN <unfinished ...>
7 100.200000000 +++ exited with 0 +++
"""


def test_every_request_of_qemu_is_there_once() -> None:
    recording = sample("vmm/qemu-10.0.strace")
    assert len(recording.timeline.spans) == TEXT.count("ioctl(")
    assert list(phases_ms(recording)) == ["VMM start", CREATE_VM, "VM creation", "guest"]
    assert recording.facts[CREATE_VM] == "1 calls, 0.506 ms, the longest 0.506 ms"
    assert "KVM_RUN EINTR 1" in recording.facts["failed"]
    assert not any("left out" in note for note in recording.notes)


def test_a_call_of_two_rows_is_one_and_one_that_never_came_back_lasts_to_the_end() -> None:
    calls = parse(TWO_THREADS.splitlines(), Tally())
    first, last = calls.of(RUN)
    assert (first.start_ns, first.end_ns, first.source) == (40_000_000, 90_000_000, "kvm-vcpu:0")
    assert (last.start_ns, last.end_ns) == (100_000_000, 200_000_000)
    assert calls.failed == {"KVM_RUN EINTR": 1} and calls.counts[RUN] == 2
    assert phases_ms(read_text(IMPORTER, TWO_THREADS)) == {
        "VMM start": 0.0, CREATE_VM: 20.0, "VM creation": 20.0, "guest": 160.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    "row",
    [
        "7 100.1 ioctl(3, KVM_CREATE_VM, 0",
        "7 100.100 <... ioctl resumed>) = 0 <9.1>",
        "7 999999999999.999999999 ioctl(3, KVM_RUN, 0) = 0 <999999999.999>",
        "7 100.100 ioctl(3, KVM_RUN, 0) = 0 <->",
        "7 0.000 ioctl(3, KVM_RUN, 0) = 0 <0.001>",
        "\x00\x1b[2J",
    ],
)
def test_a_row_that_is_damaged_costs_only_itself(row: str) -> None:
    recording = read_text(IMPORTER, f"{TWO_THREADS}{row}\n")
    assert recording.timeline.spans[0].name == CREATE_VM


def test_a_trace_without_kvm_is_refused() -> None:
    with pytest.raises(FormatError, match="KVM_CREATE_VM"):
        read_text(IMPORTER, "7 100.000000000 ioctl(3, TCGETS, 0) = 0 <0.1>\n")


def test_calls_without_a_length_are_told_and_those_without_an_end_are_kept() -> None:
    rows = [
        "7 100.000000 ioctl(3</dev/kvm>, KVM_CREATE_VM, 0) = 8<anon_inode:kvm-vm>",
        "8 100.010000 ioctl(9<anon_inode:kvm-vcpu:0>, KVM_RUN <unfinished ...>",
        "8 100.020000 ioctl(9<anon_inode:kvm-vcpu:0>, KVM_RUN <unfinished ...>",
        "9 100.030000 <... ioctl resumed>) = 0 <0.000001>",
        "8 100.040000 <... ioctl resumed>, 0) = 0 <0.020000>",
    ]
    calls = parse(rows, Tally())
    assert calls.untimed == 1
    assert [(one.start_ns, one.end_ns) for one in calls.of(RUN)] == [(10_000_000, 20_000_000), (20_000_000, 40_000_000)]
    recording = read_text(IMPORTER, "\n".join(rows) + "\n")
    assert any(note.startswith("1 calls have no length, and are shown as 0") for note in recording.notes)


def test_the_options_that_its_title_names_make_a_trace_that_is_read(tmp_path: Path) -> None:
    # Of a file that is no KVM: what counts is how strace writes a row, also of a request that is younger than strace.
    program = """
import fcntl, os
for number in (0xae01, 0x40a0ae49):
    try:
        fcntl.ioctl(os.open("/dev/null", 0), number, 0)
    except OSError:
        pass
"""
    options = IMPORTER.title.partition("(strace ")[2].partition(" -o FILE)")[0].split()
    subprocess.run(["strace", *options, "-o", tmp_path / "trace", sys.executable, "-c", program], check=True)
    recording = read_text(IMPORTER, (tmp_path / "trace").read_text())
    names = [span.name for span in recording.timeline.spans]
    assert names[0] == CREATE_VM and names[1] in ("KVM request 0x49", "KVM_SET_USER_MEMORY_REGION2")
    assert not any("no length" in note for note in recording.notes)
