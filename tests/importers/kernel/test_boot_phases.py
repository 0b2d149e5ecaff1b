"""Where the kernel's part of a boot ends: by the best line there is, and never by swallowing user space."""

import re

import pytest

from bootlab.experiments.importing import Imported
from bootlab.importers.kernel.boot_phases import OPEN_END, find_kernel_end
from bootlab.importers.kernel.dmesg import parse
from bootlab.report.recording.side_by_side import compare_sides
from tests.importers.samples import DATA, phases_ms, recording_of, sample

KERNEL = ("kernel", "kernel, to its initcalls", "initcalls", "kernel, to init")


def stamp_ms(name: str, words: str, which: int = -1) -> float:
    """Return the stamp of a line that holds these words, read without any importer."""
    found = re.findall(rf"(?m)^.*?\[ *(\d+\.\d{{6}}).*?{words}.*$", (DATA / name).read_text())
    return float(found[which]) * 1000


@pytest.mark.parametrize(
    ("name", "words", "how"),
    [
        ("kernel-logs/upstart-3.2.log", "Freeing unused kernel memory", "freeing of its own code"),
        ("kernel-logs/amlogic.log", "Freeing unused kernel memory", "freeing of its own code"),
        ("kernel-logs/mediatek.log", "Freeing unused kernel memory", "freeing of its own code"),
        ("kernel-logs/systemd-4.4-no-init-line.log", r"systemd\[1\]: systemd 229", "first line of a program"),
        ("kernel-logs/samsung.log", "init: init first stage", "first line of a program"),
        ("consoles/rockchip-console.log", "Run /init as init", ""),
    ],
)
def test_the_kernel_ends_by_the_best_line_there_is(name: str, words: str, how: str) -> None:
    one, ms = sample(name), phases_ms(sample(name))
    assert sum(ms.get(phase, 0) for phase in KERNEL) == pytest.approx(stamp_ms(name, words))
    assert list(ms)[-1] == "user space, as far as logged"
    said = [note for note in one.notes if note.startswith("The kernel ends at")]
    assert [how in note for note in said] == ([True] if how else [])


def test_a_log_without_an_end_says_so() -> None:
    one = sample("kernel-logs/no-end.log")
    assert list(phases_ms(one)) == [OPEN_END]
    assert any("the one phase is no measure of the kernel" in note for note in one.notes)


def test_the_freed_memory_of_a_module_later_is_no_end() -> None:
    log = parse(
        "[    0.000000] Linux version 3.2\n[    1.000000] Freeing unused kernel memory: 9k freed\n"
        "[    2.000000] init: starting\n[    9.000000] Freeing init memory: 4K\n"
    )
    end = find_kernel_end(log.lines)
    assert end is not None and end.t_ns == 1_000_000_000


def test_two_old_logs_are_compared_kernel_with_kernel() -> None:
    before, after = (Imported(name, (), sample(f"kernel-logs/{name}")) for name in ("amlogic.log", "mediatek.log"))
    rows = {row.name: row for row in compare_sides(before, after).phases}
    assert rows["initcalls"].before_ns == 30_000_000 and rows["initcalls"].after_ns == 60_000_000


def test_a_boot_that_was_suspended_later_ends_there() -> None:
    text = (
        "[    0.000000] Linux version 6.1\n[    1.000000] Run /init as init process\n[    2.000000] x\n"
        "[  500.000000] PM: suspend entry (s2idle)\n[  600.000000] PM: suspend exit\n"
    )
    one = recording_of(text.encode())
    assert phases_ms(one) == {"kernel": 1_000.0, "user space, as far as logged": 499_000.0}
    assert any("suspended at 500.000 s" in note for note in one.notes)
