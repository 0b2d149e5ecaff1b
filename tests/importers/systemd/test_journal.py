"""A journal with its fields: the kernel's clock laid over systemd's, units by systemd's messages, its own phases."""

import json

import pytest

from bootlab.importers.reading.source import FormatError
from tests.importers.samples import DATA, phases_ms, recording_of, sample

ENTRIES = [json.loads(row) for row in (DATA / "journal" / "boot.json").read_text().splitlines()]


@pytest.mark.parametrize("name", ["journal/boot.json", "journal/boot.export", "journal/boot-verbose.txt"])
def test_phases_and_units_are_systemds_own(name: str) -> None:
    one = sample(name)
    last = ENTRIES[-1]
    assert phases_ms(one) == {
        "kernel": int(last["KERNEL_USEC"]) / 1000,
        "userspace": int(last["USERSPACE_USEC"]) / 1000,
    }
    at = {
        (entry["UNIT"], entry["MESSAGE"].split()[0]): int(entry["__MONOTONIC_TIMESTAMP"]) * 1000
        for entry in ENTRIES
        if "UNIT" in entry
    }
    units = {span.name: (span.start_ns, span.end_ns) for span in one.timeline.spans if span.source == "unit"}
    assert units == {
        unit: (at[unit, "Starting"], at[unit, "Started"]) for unit in ("systemd-udevd.service", "ssh.service")
    }


def test_the_kernels_lines_are_where_the_kernel_wrote_them() -> None:
    one = sample("journal/boot.json")
    # By the file: the least that journald's stamp is behind the kernel's own, of lines that it received at once.
    pairs = [(int(entry["_SOURCE_MONOTONIC_TIMESTAMP"]), int(entry["__MONOTONIC_TIMESTAMP"])) for entry in ENTRIES
             if entry["MESSAGE"].startswith("device ")]  # fmt: skip
    least_us = min(later - earlier for earlier, later in pairs)
    (note,) = [note for note in one.notes if "printk's clock" in note]
    offset_us, uncertainty_us = (float(word) * 1000 for word in (note.split()[3], note.split()[9]))
    assert abs(offset_us - least_us) <= uncertainty_us
    placed = {event.name: event.t_ns for event in one.timeline.events if event.source == "kernel"}
    assert all(abs(placed[f"device {number} found"] - (own + least_us) * 1000) <= uncertainty_us * 1000
               for number, (own, _) in enumerate(pairs))  # fmt: skip


def test_an_initcall_of_before_journald_keeps_its_length() -> None:
    (call,) = [length for length in sample("journal/boot.json").lengths if length.source == "initcall"]
    assert (call.name, call.took_ns) == ("ahci_init", 150_000_000)


def test_another_boot_is_left_out_by_name() -> None:
    other = dict(ENTRIES[0], _BOOT_ID="f" * 32)
    text = "".join(json.dumps(entry) + "\n" for entry in (*ENTRIES, other))
    one = recording_of(text.encode())
    assert any(note == "1 of 52 entries left out: of another boot." for note in one.notes)


def test_entries_without_times_are_refused() -> None:
    with pytest.raises(FormatError, match="expected entries with a time"):
        recording_of(b'{"MESSAGE": "x"}\n', format_name="journal")
