"""A console of loaders alone: who wrote what, and lengths by the loaders' own stamps."""

import re

import pytest

from bootlab.importers.reading.source import FormatError
from bootlab.importers.serial import loader_console
from tests.importers.samples import DATA, phases_ms, read_text, recording_of, sample

TEXT = (DATA / "consoles" / "loaders-alone.log").read_text()


def test_its_own_stamps_and_everything_else_in_its_place() -> None:
    one = sample("consoles/loaders-alone.log")
    stamps = [round(float(stamp) * 1000) for stamp in re.findall(r"(?m)^\[ +(\d+\.\d{3})\]", TEXT)]
    assert [event.t_ns // 10**6 for event in one.timeline.events] == stamps
    assert sum(span.duration_ns for span in one.timeline.spans) == (stamps[-1] - stamps[0]) * 10**6
    kept = len(one.timeline.events) + len(one.text)
    assert kept == sum(bool(row.strip()) for row in TEXT.splitlines())
    assert one.facts["programs"] == "U-Boot SPL (3 lines), U-Boot (6 lines)" and one.notes == ()


def test_stamps_like_the_kernels_are_a_loaders_where_it_says_what_loaders_say() -> None:
    one = sample("other-origins/uboot-stamped-as-printk.log")
    assert one.format == "loader-console" and one.tool == "a boot loader" and one.notes == ()
    assert one.timeline.clock.resolution_ns == 1_000
    # With a kernel behind it, it is the kernel's log.
    text = (DATA / "other-origins" / "uboot-stamped-as-printk.log").read_text()
    assert recording_of((text + "[    0.000000] Linux version 2.6.34\n").encode()).format == "dmesg"


def test_without_stamps_it_says_how_to_get_some() -> None:
    one = recording_of(b"U-Boot 2024.01 (Jan 01 2024)\nDRAM:  1 GiB\n")
    assert one.format == "loader-console" and one.timeline.events == () and len(one.text) == 2
    assert "No line has a time" in one.notes[0]


def test_a_console_without_a_banner_is_refused() -> None:
    with pytest.raises(FormatError, match="expected a loader's banner"):
        read_text(loader_console.IMPORTER, "hello\n")


def test_a_kernel_that_writes_long_after_its_loaders_is_read_as_one() -> None:
    loaders = ["[Enter `^Ec?' for help]", "coreboot-4.12-test Mon Jan  1 00:00:00 UTC 2024 bootblock starting...", "\0"]
    loaders += [f"CBFS: file {number} of the firmware, of which it tells at length" for number in range(2000)]
    kernel = ["[    0.000000] Linux version 6.1.0-test", "[    1.500000] Run /init as init process", "[    2.000000] x"]
    one = recording_of("\n".join([*loaders, *kernel]).encode())
    assert one.format == "dmesg" and one.facts["kernel"] == "6.1.0-test"
    assert phases_ms(one) == {"kernel": 1500, "user space, as far as logged": 500}
    assert one.facts["before the kernel, without times"] == f"coreboot ({len(loaders) - 1} lines)"
    assert len(one.text) == len(loaders)


def test_coreboot_is_known_by_its_coloured_banner_and_its_states_have_lengths() -> None:
    rows = [
        "\x1b[0m",
        "\x1b[1m[NOTE ]  coreboot-24.02-test Thu Apr 04 UTC 2024 x86_32 bootblock starting (log level: 7)...\x1b[0m",
        "\x1b[0m[DEBUG]  BS: bootblock times (exec / console): total (unknown) / 46 ms\x1b[0m",
        "[DEBUG]  BS: BS_DEV_INIT run times (exec / console): 170 / 34 ms",
        "BS: BS_DEV_ENABLE exit times (exec / console): 2 / 0 ms",
    ]
    one = recording_of("\n".join(rows).encode())
    assert one.format == "loader-console" and one.tool == "coreboot"
    assert [(length.name, length.took_ns // 10**6) for length in one.lengths] == [
        ("bootblock", 46), ("BS_DEV_INIT run", 204), ("BS_DEV_ENABLE exit", 2)
    ]  # fmt: skip
    assert one.lengths[0].about == "its printing alone, as coreboot says"
    assert len(one.notes) == 1 and one.notes[0].startswith("No line has a stamp")
    behind = recording_of("\n".join([*rows, "[    0.000000] Linux version 6.1.0-test"]).encode())
    assert behind.format == "dmesg" and [length.took_ns // 10**6 for length in behind.lengths] == [46, 204, 2]
