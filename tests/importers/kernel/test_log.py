"""Kernel logs as recordings: traps of the kernel's own figures, of journals and mail. Prefixes are in test_dmesg.py."""

import lzma
import time

import pytest

from bootlab.importers.kernel import log as kernel_log
from bootlab.timeline.recording import Recording
from tests.importers.samples import DATA, read_text, recording_of, sample


def text_of(name: str) -> str:
    return lzma.decompress((DATA / "debian-13" / name).read_bytes()).decode()


def read(text: str) -> Recording:
    return read_text(kernel_log.IMPORTER, text)


def figures(one: Recording) -> list[tuple[str, int, int]]:
    return [(span.name, span.start_ns, span.end_ns) for span in one.timeline.spans]


def test_a_debian_boot_in_phases_and_initcalls() -> None:
    one = sample("debian-13/dmesg.txt.xz")
    assert [phase.name for phase in one.phases] == [
        "kernel, to its initcalls", "initcalls", "kernel, to init", "user space, as far as logged",
    ]  # fmt: skip
    assert all(a.end_ns == b.start_ns for a, b in zip(one.phases, one.phases[1:], strict=False))
    calls = {span.name: span for span in one.timeline.spans if span.source == "initcall"}
    assert len(calls) == 649 and sum(span.source == "initcall" for span in one.timeline.spans) == 654
    assert one.facts["kernel"] == "6.12.107+deb13-cloud-amd64" and one.facts["init"] == "/init"


def test_iso_times_have_the_same_differences() -> None:
    one, other = sample("debian-13/dmesg.txt.xz"), sample("debian-13/dmesg-iso.txt.xz")
    assert figures(one) == figures(other) and one.phases == other.phases


def test_whole_seconds_are_said_to_be_that() -> None:
    one = read(
        "[Mon Apr 13 19:37:57 2026] Linux version 6.12.107\n[Mon Apr 13 19:37:59 2026] calling  f+0x0/0x1 @ 1\n"
        "[Mon Apr 13 19:38:02 2026] initcall f+0x0/0x1 returned 0 after 3100000 usecs\n"
    )
    assert figures(one) == [("f", 2_000_000_000, 5_000_000_000)]
    assert one.timeline.clock.resolution_ns == 1_000_000_000 and "whole seconds" in one.notes[0]


def test_a_journals_monotonic_stamps_are_of_receipt() -> None:
    one, kernel = sample("debian-13/journal-monotonic.txt.xz"), sample("debian-13/dmesg.txt.xz")
    # `Linux version` seems to be 15.3 s late: nothing is placed by such stamps.
    assert one.timeline.spans == () and one.phases == () and "15.298 s" in one.notes[0]
    assert one.timeline.clock.name == "monotonic"
    told = [length for length in one.lengths if length.source == "initcall"]
    assert len(told) == sum(span.source == "initcall" for span in kernel.timeline.spans) == 654
    startup = {length.name: length.took_ns for length in one.lengths if length.source == "startup"}
    assert startup == {"kernel": 7_170_000_000, "userspace": 29_414_000_000}


def test_a_journal_without_stamps_keeps_the_kernels_figures() -> None:
    one = sample("debian-13/journal.txt.xz")
    told = {length.name: length for length in one.lengths if length.source == "initcall"}
    assert one.timeline.events == () and told["acpi_init"].took_ns == 408_000_000
    assert "in jiffies" in told["acpi_init"].about and "in jiffies" not in told["inet6_init"].about


def test_the_kernels_figures_of_before_the_switch_are_no_lengths() -> None:
    spans = {span.name: span for span in sample("debian-13/dmesg.txt.xz").timeline.spans}
    assert (spans["acpi_init"].duration_ns, spans["acpi_init"].about) == (405_856_000, "kernel: 408000 us in jiffies")
    assert spans["inet6_init"].about == "kernel: 350927 us"


def test_a_wrapped_buffer_is_said_and_its_figures_are_not_called_jiffies() -> None:
    rows = text_of("dmesg.txt.xz").splitlines()
    switched = next(number for number, row in enumerate(rows) if "Switched to clocksource" in row)
    one = read("\n".join(rows[switched - 100 :]))
    assert "beginning is missing" in one.notes[0]
    late = read("\n".join(rows[switched + 1 :]))
    assert not any("clocksource switch" in note for note in late.notes)


def test_deferred_probes_are_named() -> None:
    head = "[    0.000000] Linux version 6\n[    0.100000] clocksource: Switched to clocksource tsc\n"
    one = read(head + "[    1.500000] probe of 1c30000.ethernet returned -517 after 250000 usecs\n")
    (span,) = one.timeline.spans
    assert (span.source, span.name, span.start_ns, span.about) == (
        "probe", "1c30000.ethernet", 1_250_000_000, "deferred, to be tried again",
    )  # fmt: skip


def test_an_end_without_its_beginning_is_as_long_as_the_kernel_says() -> None:
    # What `dmesg | grep "initcall.*after"` leaves; by awk: '/returned/ {print $(NF - 1)}'.
    rows = (DATA / "kernel-logs" / "only-returns.log").read_text().splitlines()
    expected = {row.split("initcall ")[1].partition("+")[0]: int(row.split()[-2]) * 1000 for row in rows}
    one = sample("kernel-logs/only-returns.log")
    assert {length.name: length.took_ns for length in one.lengths} == expected and len(expected) == 4
    assert one.phases == () and not any("ring buffer" in note or "jiffies" in note for note in one.notes)


def test_lines_that_a_mail_has_broken_are_joined() -> None:
    one = sample("kernel-logs/mail-wrapped.txt")
    assert figures(one) == [
        ("of_platform_default_populate_init", 100_000_000, 350_500_000), ("imx_drm_init", 400_000_000, 900_000_000),
    ]  # fmt: skip
    assert [line.text for line in one.text] == ["Hi all,", "on my board these take longest:", "Regards"]


@pytest.mark.parametrize(("language", "probes"), [("german", 2), ("japanese", 0)])
def test_a_journals_excerpt_in_any_language_is_read_for_lengths(language: str, probes: int) -> None:
    name = f"kernel-logs/syslog-{language}.log"
    rows = (DATA / name).read_text().splitlines()
    one = sample(name)
    assert one.format == "dmesg" and one.timeline.events == ()
    assert sorted(length.took_ns // 1000 for length in one.lengths) == sorted(int(row.split()[-2]) for row in rows)
    assert sum(length.source == "probe" for length in one.lengths) == probes
    # EPROBE_DEFER without its sign.
    assert sum("deferred" in length.about for length in one.lengths) == probes // 2


def test_kernels_before_5_18_count_jiffies_in_units_of_1024_ns() -> None:
    (call, *_) = sample("kernel-logs/upstart-3.2.log").timeline.spans
    assert (call.name, call.about) == ("init_hw_perf_events", "kernel: 3906 us in jiffies")


def test_a_line_without_a_stamp_is_kept_in_its_place() -> None:
    one = sample("consoles/rockchip-console.log")
    rows = [row for row in (DATA / "consoles" / "rockchip-console.log").read_text().splitlines() if row]
    shown, events = [], [event.name for event in one.timeline.events]
    for number in range(len(events) + 1):
        shown += [line.text for line in one.text if line.after == number]
        shown += events[number : number + 1]
    assert shown == [row.partition("] ")[2] if row.startswith("[") else row for row in rows]


def test_initcall_levels_where_the_kernel_names_them() -> None:
    one = read(
        "[    0.000000] Linux version 6.18\n[    0.100000] entering initcall level: fs\n"
        "[    0.300000] entering initcall level: device\n[    0.700000] Run /init as init process\n"
    )
    levels = [(span.name, span.duration_ns // 1_000_000) for span in one.timeline.spans]
    assert levels == [("fs", 200), ("device", 400)]


@pytest.mark.parametrize(
    "mangle",
    [
        lambda row: row.replace("] ", "][    T1] ", 1),
        lambda row: f"<7>{row}",
        lambda row: f"> {row}",
        lambda row: f"{row}\n",
        lambda row: f"{row}\r\r",
        lambda row: f"Nov 20 10:00:00 host kernel: {row}",
        lambda row: row.replace("] calling", "] serial8250: late words calling"),
        lambda row: row.replace("] initcall", "] usb 1-1: new device initcall"),
    ],
    ids="caller level quoted doubled carriage syslog glued-calling glued-initcall".split(),
)
def test_a_whole_boot_mangled_reads_the_same(mangle: object) -> None:
    raw = text_of("dmesg.txt.xz")
    mangled = "\n".join(mangle(row) for row in raw.splitlines())  # type: ignore[operator]
    calls = figures(read(raw))
    assert figures(read(mangled)) == calls and len(calls) > 654


def test_a_mail_in_quoted_printable_reads_the_same() -> None:
    import quopri

    raw = text_of("dmesg.txt.xz")
    mailed = quopri.encodestring(raw.encode()).decode()
    assert "=\n" in mailed
    assert figures(read(mailed)) == figures(read(raw))


def test_addresses_and_power_management() -> None:
    one = read(
        "[    0.000000] Linux version 6\n[    0.100000] calling  0xffffffff81a0b0c0 @ 1\n"
        "[    0.200000] initcall 0xffffffff81a0b0c0 returned 0 after 99999 usecs\n"
        "[    0.300000] calling  i2c-3+ @ 2475, parent: 0000:00:02.0\n"
        "[    0.400000] call i2c-3+ returned 0 after 0 usecs\n"
    )
    assert figures(one) == [("0xffffffff81a0b0c0", 100_000_000, 200_000_000), ("i2c-3", 300_000_000, 400_000_000)]
    assert [span.source for span in one.timeline.spans] == ["initcall", "device callback"]


def test_a_stamp_that_was_torn_is_no_stamp() -> None:
    one = read("[    0.000000] Linux version 6\n[   3 0.123456] torn\n[    0.500000] whole\n")
    assert [event.name for event in one.timeline.events] == ["Linux version 6", "whole"]


@pytest.mark.parametrize(
    "words", ["Startup finished in 1s (kernel) + ", "[    0.000001] ", "calling  a+0x0/0x1 @ 1 ", "> "]
)
def test_an_endless_line_takes_no_time(words: str) -> None:
    began = time.process_time()
    read("[    0.000000] Linux version 6\n" + words * (65_000 // len(words)) + "\n")
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    ("loaders", "name"),
    [
        ("uboot/qemu-x86-console.log", "bootstage"),
        ("firmware-times/slim-bootloader.txt", "slim-bootloader"),
        ("firmware-times/ti-sbl.txt", "ti-sbl"),
        ("firmware-times/xbl-console.log", "xbl"),
    ],
)
def test_a_loaders_own_figures_on_a_whole_console_are_named(loaders: str, name: str) -> None:
    kernel = "[    0.000000] Linux version 6.1\n[    0.500000] Run /init as init process\n"
    whole = (DATA / loaders).read_text() + kernel
    assert recording_of(whole.encode(), format_name="dmesg").notes[0].endswith(f"--format {name} reads that.")
    assert recording_of(whole.encode(), format_name=name).format == name
    assert not any("reads that" in note for note in recording_of(kernel.encode()).notes)


def test_a_switch_that_no_line_tells_of_is_not_said_to_have_been() -> None:
    rows = (
        "[    0.000000] Linux version 4.9.1 (a@b)\n[    0.500000] calling  a_init+0x0/0x10 @ 1\n"
        "[    0.620000] initcall a_init+0x0/0x10 returned 0 after 117187 usecs\n{switch}"
        "[    2.000000] Run /init as init process\n"
    )
    with_one = recording_of(rows.format(switch="[    0.700000] clocksource: Switched to clocksource x\n").encode())
    without = recording_of(rows.format(switch="").encode())
    assert any("ended before the clocksource switch" in note for note in with_one.notes)
    assert not any("ended before" in note for note in without.notes)
    assert any("the log does not tell of one" in note for note in without.notes)


def test_a_log_that_ends_at_the_kernels_first_line_does_not_begin_later() -> None:
    one = recording_of(
        b"U-Boot 2024.01 (Jan 01 2024)\nStarting kernel ...\n[    0.000000] Booting Linux on physical CPU 0xf\n"
    )
    assert one.notes == ("The log ends at the kernel's first line: what follows is missing, and in no figure.",)
