"""Profiles on a terminal: fit 80 columns, no codes when piped, nothing a guest named acts on the terminal."""

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console, RenderableType

from bootlab.experiments.recorded_profiles import read_profile_run
from bootlab.experiments.sweep.profiles import Point, Sweep, make_point, make_sweep, slopes
from bootlab.findings.analysis import Analysis
from bootlab.findings.profile_document import profile_document
from bootlab.measure.record import DiskRecord, Outcome, PhaseRecord
from bootlab.profile.recorded.record_types import Space
from bootlab.profile.tables.block_io import DiskCaller
from bootlab.profile.tables.disk_files import NO_FILE, DiskFile
from bootlab.report.profile import side_by_side_text as profile_sides_text
from bootlab.report.profile import text as profile_text
from bootlab.report.profile.page import profile_page
from bootlab.report.profile.shown_parts import parts_of, phase_parts
from bootlab.report.profile.sweep_page import profile_sweep_page
from bootlab.timeline.phases import cut as cut_phases
from tests.cli.conftest import KERNEL, made_up_profile, write_profile_run
from tests.profile.conftest import ProfileWriter


def printed(renderable: RenderableType, *, width: int = 80, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    Console(file=stream, width=width, highlight=False, markup=False).print(renderable)
    stream.flush()
    return raw.getvalue().decode(encoding)


@pytest.fixture
def analysis(tmp_path: Path) -> Analysis:
    return read_profile_run(write_profile_run(tmp_path))


def test_a_profile_without_a_cut_at_ready_says_how_far_it_goes(analysis: Analysis) -> None:
    assert analysis.past_ready_ns == 0 and "no cut at ready" not in printed(profile_text.profile(analysis))
    ready_ns = analysis.record.marks["ready"]
    slices = [replace(one, name="console") if one.name == "ready" else one for one in analysis.profile.slices]
    longer = replace(analysis.profile, slices=slices, end_ns=ready_ns + 2_500_000)
    uncut = replace(analysis, profile=longer)
    said = " ".join(printed(profile_text.profile(uncut), width=200).split())
    assert 'the profile has no cut at ready: what is "up to ready" goes on for 2.50 ms' in said
    assert "The profile has no cut at ready" in profile_page(uncut) and profile_document(uncut)["past_ready_ns"]


@pytest.fixture
def everything(analysis: Analysis) -> list[RenderableType]:
    many = [make_point("vcpus", analysis), make_point("vcpus", analysis)]
    many[1] = replace(many[1], point=many[1].point.model_copy(update={"value": 2.0}))
    return [
        profile_text.profile(analysis),
        profile_text.advice(analysis.advice),
        profile_sides_text.difference(analysis, analysis),
        profile_sides_text.sweep(make_sweep("made-up", "vcpus", many, asked=2, run="runs/1")),
    ]


def test_fits_and_has_no_codes(everything: list[RenderableType]) -> None:
    for renderable in everything:
        for width in (80, 120):
            out = printed(renderable, width=width)
            assert max(len(line.rstrip()) for line in out.splitlines()) <= width
            assert "\x1b" not in out
        printed(renderable, encoding="ascii")


def test_what_was_read_in_each_phase_where_that_is_counted(analysis: Analysis) -> None:
    assert "MiB read" not in printed(profile_text.profile(analysis), width=120)
    first = analysis.activity.phases[0]
    phase = PhaseRecord(
        name=first.name, start="power_on", end="x", start_ns=0, duration_ns=first.end_ns, read_bytes=3 << 19
    )
    counted = replace(analysis, record=analysis.record.model_copy(update={"phases": [phase]}))
    out = printed(profile_text.profile(counted), width=120)
    (row,) = [line for line in out.splitlines() if line.startswith(first.name)]
    assert "MiB read" in out and row.rstrip().endswith("1.50")


def test_sections_of_a_profile(analysis: Analysis) -> None:
    out = " ".join(printed(profile_text.profile(analysis), width=120).split())
    assert "made-up ready 4.00 ms virtual profiled" in out
    assert "3,300,000 instructions, 0.70 ms idle, up to ready" in out
    assert "account closed: every instruction and every ns is in it" in out
    for title in ("phases up to ready", "functions by their own", "longest initcalls", "idle time", "longest waits"):
        assert title in out
    assert "tpm_init device 2.75 0.05" in out
    assert "1 0" in out and "/bin/sh" in out
    assert "cmdline_cryptomgr_notests 2.00 none" in out


def test_disks_are_shown_with_who_asked_them(analysis: Analysis) -> None:
    disk = DiskRecord(
        drive="rootfs", model="sd", reads=3, read_bytes=3 << 20, writes=1, written_bytes=512, flushes=0,
        busy_ns=4_000_000, waited_ns=8_000_000, longest_ns=5_000_000,
    )  # fmt: skip
    callers = (DiskCaller(1, 3, 3 << 20, 0, 0, 0, 7_000_000, 5_000_000), DiskCaller(2, 0, 0, 1, 512, 0, 10**6, 10**6))
    record = analysis.record.model_copy(update={"disks": [disk]})
    text = printed(profile_text.profile(replace(analysis, record=record, disk_callers=callers)), width=120)
    _, found, rest = text.partition("disks, by who asked them")
    assert found and re.search(r"sh\s+3\s+3\.0\s+0\s+0\.0\s+7\.00\s+5\.00", rest)
    said = "rootfs is a modelled disk (sd): 3 reads of 3.0 MiB, 1 write of 0.0 MiB; busy 4.00 ms, 2.00 ms a request"
    assert said in " ".join(rest.split())
    assert "by who asked them" not in printed(profile_text.profile(analysis))
    document = profile_document(replace(analysis, record=record, disk_callers=callers))
    assert document["disks"][0]["drive"] == "rootfs" and document["disk_callers"][1]["written_bytes"] == 512


def test_disks_are_shown_by_file(analysis: Analysis) -> None:
    callers = (DiskCaller(1, 3, 3 << 20, 0, 0, 0, 7_000_000, 5_000_000),)
    files = (
        DiskFile("rootfs", "/usr/lib/x86_64-linux-gnu/libc.so.6", 3, 2 << 20, 512, 6_000_000),
        DiskFile("rootfs", NO_FILE, 1, 4096, 0, 1_000_000),
    )
    shown = replace(analysis, disk_callers=callers, disk_files=files)
    text = " ".join(printed(profile_text.profile(shown), width=120).split())
    assert "disks, by file" in text and "/usr/lib/x86_64-linux-gnu/libc.so.6 3 2,048 0 6.00" in text
    assert "no file: the file system's tables, journal and free blocks 1 4 0 1.00" in text
    assert profile_document(shown)["disk_files"][1]["path"] == ""


def test_names_from_a_guest_cannot_steer_the_terminal(analysis: Analysis) -> None:
    evil = "\x1b[2Jboo"
    names = [evil if name == "alg_test" else name for name in analysis.tree.names]
    out = printed(profile_text.profile(replace(analysis, tree=replace(analysis.tree, names=names))))
    assert "\x1b" not in out
    assert "boo" in out


def test_slopes_are_of_the_best_line_and_steepest_first() -> None:
    found = slopes([1, 2, 4], [{"a": 10, "b": 5, "c": 1}, {"a": 20, "b": 5}, {"a": 40, "b": 5, "d": 9}])
    assert [(one.name, one.values_ns, one.slope_ns) for one in found] == [
        ("a", [10, 20, 40], 10.0),
        ("d", [0, 0, 9], 3.2),
        ("c", [1, 0, 0], -0.3),
    ], "what is the same everywhere has no slope"


def test_a_point_that_was_not_ready_is_named_and_left_out() -> None:
    sweep = Sweep.model_validate(
        {
            "system": "s", "axis": "memory_gib", "asked": 4, "run": "r", "phases": [], "functions": [], "totals": [],
            "ready": {"name": "ready", "values_ns": [1_000_000, 3_000_000], "slope_ns": 2_000_000.0},
            "points": [
                Point(value=value, outcome=outcome, detail="none", ready_ns=ready, instructions=1, idle_ns=0, run="x")
                for value, outcome, ready in ((0.5, "ready", 1_000_000), (1, "hung", None), (1.5, "ready", 3_000_000))
            ],
        }
    )  # fmt: skip
    out = printed(profile_sides_text.sweep(sweep))
    assert "1 GiB: hung: none" in out
    assert "interrupted: 3 of 4 boots" in out
    assert "+2.00" in out
    assert not sweep.whole


def test_advice_says_what_became_of_the_boot(tmp_path: Path) -> None:
    run = write_profile_run(tmp_path, outcome=Outcome.HUNG)
    out = " ".join(printed(profile_text.advice(read_profile_run(run).advice)).split())
    assert "made-up hung 4.90 ms to where it ended" in out
    assert "killed by signal 9" in out
    data, _ = made_up_profile()
    run = write_profile_run(tmp_path, size=len(data) * 9 // 10, outcome=Outcome.TARGET_DIED)
    out = printed(profile_text.advice(read_profile_run(run).advice))
    assert "target died" in out and "the profile was cut off: what follows is what was saved" in out
    assert " to ready" not in out


def test_advice_is_readable_in_a_narrow_terminal(analysis: Analysis) -> None:
    out = printed(profile_text.advice(analysis.advice), width=40)
    assert max(len(line) for line in out.splitlines()) <= 40
    assert "self-tests of the crypto" in out, "not two letters a line"
    assert "alone, estimated" not in out


def test_a_profile_that_was_cut_off_says_the_same_everywhere(tmp_path: Path) -> None:
    data, _ = made_up_profile()
    cut = read_profile_run(write_profile_run(tmp_path, size=len(data) * 9 // 10, outcome=Outcome.TARGET_DIED))
    assert cut.account.faults and not cut.account.closed
    assert profile_document(cut)["account"]["closed"] is False, "with a fault it is not closed"
    verdict = "cut off: every instruction that was saved is in it"
    assert cut.account.verdict == verdict
    assert f"account {verdict}" in printed(profile_text.profile(cut))
    page = profile_page(cut)
    assert verdict in page
    assert "does not add up" not in page and "does not close" not in page
    assert "up to ready" not in page and "power-on to ready" not in re.sub(r"(?s)<script>.*?</script>", "", page)
    # All of it is shown at first, so the page's scripts have no way back to `power-on to ready`.
    assert all(part.shown for part in parts_of(cut.profile, cut.record.marks))
    assert phase_parts(cut.profile, [])[-1].shown and phase_parts(cut.profile, cut_phases(cut.record.marks))[-1].shown


def test_system_calls_of_the_check_are_said_to_be_in(analysis: Analysis) -> None:
    assert "Those after ready, of the check, are in it as well." in profile_page(analysis)


def test_points_name_no_addresses(tmp_path: Path) -> None:
    """Between two amounts of memory SeaBIOS lies elsewhere, and no function of it can be found again."""
    samples = []
    for number, address in enumerate((0x0EFB845, 0x1EFFB845)):
        writer = ProfileWriter(tuple(KERNEL))
        writer.spend(f"[firmware];firmware@{address:#x}", 4_000_000 + number, space=Space.STAGE)
        writer.cut("up")
        run = write_profile_run(tmp_path)
        (run.path / "boots" / "1" / "profile.bin").write_bytes(writer.end())
        samples.append(make_point("memory_gib", read_profile_run(run)))
        samples[-1] = replace(samples[-1], point=samples[-1].point.model_copy(update={"value": number + 1.0}))
    sweep = make_sweep("made-up", "memory_gib", samples, asked=2, run="runs/1")
    assert [one.name for one in sweep.functions] == ["firmware, code without symbols"]
    assert sweep.functions[0].values_ns == [4_000_000, 4_000_001]


def test_too_few_points_have_no_slopes_and_are_shown(analysis: Analysis) -> None:
    sweep = make_sweep("made-up", "vcpus", [make_point("vcpus", analysis)], asked=2, run="runs/1")
    assert sweep.ready is None
    out = " ".join(printed(profile_sides_text.sweep(sweep)).split())
    assert "no slopes: 1 of 2 boots were ready, and a slope needs two" in out
    assert "no slopes: 1 of 2 boots were ready" in profile_sweep_page(sweep)


def test_two_profiles_that_are_the_same_have_no_functions_that_changed(analysis: Analysis) -> None:
    out = printed(profile_sides_text.difference(analysis, analysis))
    assert "none: every function took the same time in both" in out
    assert "alg_test" not in out
