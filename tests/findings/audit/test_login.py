"""What stands before a login prompt, in a boot that is told here."""

import stat
from pathlib import Path

import pytest

from bootlab.build.formats.cpio import Entry
from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.login import find_console_output, find_idle_units, find_size_questions
from bootlab.findings.audit.process_costs import TaskCosts
from tests.findings.audit.told_boot import Story, analysis_of_the_boot

GETTY = b"[Service]\nExecStart=-/sbin/agetty -o '-p -- \\\\u' --keep-baud - $TERM\nType=idle\n"


def tell(prints_ns: int = 0) -> Story:
    story = Story()
    init = story.start(story.idler, "systemd", 1, "/sbin/init")
    if prints_ns:
        story.run(init, prints_ns, "kernel_init;univ8250_console_write")
    getty = story.start(init, "(agetty)", 9, "")
    story.run(getty, 40_000)
    story.to(story.idler)
    story.rest(3_000_000)
    story.wake(getty, story.idler, "swapper/0-0;cpu_startup_entry;do_idle", 1)
    story.run(getty, 1_000)
    story.execute(getty, "/sbin/agetty -o - linux")
    story.run(getty, 500_000)
    story.mark("up")
    story.marks["ready"] = story.t_ns
    return story


UNIT = "usr/lib/systemd/system/serial-getty@.service"


def audited(folder: Path, files: dict[str, bytes], prints_ns: int = 0) -> AuditedBoot:
    analysis = analysis_of_the_boot(folder, tell(prints_ns))
    entries = [Entry(path, stat.S_IFREG, data) for path, data in files.items()]
    return AuditedBoot(analysis, TaskCosts(analysis), rootfs=entries)


def test_a_program_that_waited_before_it_began_is_named_with_its_unit(tmp_path: Path) -> None:
    found = find_idle_units(audited(tmp_path, {UNIT: GETTY}))
    assert found is not None and found.idle_ns == 3_000_000
    (item,) = found.items
    assert item.what.startswith("/sbin/agetty") and item.detail == "serial-getty@.service"
    assert item.lasted_ns is not None and item.lasted_ns >= 3_000_000 and (item.cost_ns or 0) < item.lasted_ns + 1


@pytest.mark.parametrize(
    "files",
    [
        {UNIT: GETTY.replace(b"idle", b"simple")},
        {UNIT: GETTY, "etc/systemd/system/serial-getty@.service.d/90.conf": b"[Service]\nType=simple\n"},
        {"usr/share/doc/serial-getty@.service": GETTY},
        # A whole unit in the place of the package's, which says nothing of its type.
        {UNIT: GETTY, "etc/systemd/system/serial-getty@.service": GETTY.replace(b"Type=idle\n", b"")},
    ],
)
def test_one_of_another_type_is_no_finding(files: dict[str, bytes], tmp_path: Path) -> None:
    assert find_idle_units(audited(tmp_path, files)) is None


def test_what_the_kernel_writes_to_a_console_costs_what_it_executes_there(tmp_path: Path) -> None:
    (tmp_path / "console.log").write_text("x" * 1234)
    found = find_console_output(audited(tmp_path, {}, 7_000_000))
    assert found is not None and found.cost_ns == found.executed_ns == 7_000_000
    assert "1,234 bytes" in found.what and found.technique == "cmdline_quiet"
    assert [one.what for one in found.items] == ["the kernel's messages"]


def test_a_silent_console_is_no_finding(tmp_path: Path) -> None:
    assert find_console_output(audited(tmp_path, {})) is None


ASKS = "\x1b[!p\x1b]104\x07\x1b[?7h\x1b[6n\x1b[32766;32766H\x1b[6n"
TIMER = "swapper/0-0;cpu_startup_entry;do_idle;asm_sysvec_apic_timer_interrupt;hrtimer_interrupt;hrtimer_wakeup"


def tell_of_a_terminal(answers_ns: int) -> Story:
    story = Story()
    init = story.start(story.idler, "systemd", 1, "/sbin/init")
    getty = story.start(init, "(agetty)", 9, "/usr/lib/systemd/systemd-executor --deserialize 9")
    story.run(getty, 40_000)
    story.to(story.idler)
    story.rest(7_000_000)
    story.wake(getty, init, "systemd-1;[user]")
    story.run(getty, 1_000)
    for _ in range(2):
        story.to(story.idler)
        story.rest(answers_ns)
        story.wake(getty, story.idler, TIMER, 1)
        story.run(getty, 1_000)
    story.execute(getty, "/sbin/agetty -o - linux")
    story.run(getty, 500_000)
    story.mark("up")
    story.marks["ready"] = story.t_ns
    return story


@pytest.mark.parametrize(("console", "answers_ns"), [(ASKS * 2, 325_000_000), ("login:", 325_000_000)])
def test_a_terminal_that_is_asked_and_does_not_answer(console: str, answers_ns: int, tmp_path: Path) -> None:
    (tmp_path / "console.log").write_text(console)
    analysis = analysis_of_the_boot(tmp_path, tell_of_a_terminal(answers_ns))
    found = find_size_questions(AuditedBoot(analysis, TaskCosts(analysis), rootfs=[]))
    assert (found is None) == (console == "login:")
    if found is not None:
        assert found.cost_ns == found.idle_ns == 2 * answers_ns and found.what.startswith("2 times")
        assert [one.what for one in found.items] == ["/sbin/agetty -o - linux"]
