"""Which parts a boot is shown in."""

from dataclasses import replace

from bootlab.profile.recorded.profile import Profile
from bootlab.report.profile.shown_parts import parts_of
from bootlab.timeline import marks as m
from tests.report.analysed import analysis_of


def test_many_slices_are_put_together_by_phase(long_boot: Profile) -> None:
    piece = long_boot.slices[4]
    step = (piece.end_ns - piece.start_ns) // 30
    lines = [
        replace(piece, name="console", start_ns=piece.start_ns + n * step, end_ns=piece.start_ns + (n + 1) * step,
                weights=piece.weights[:0])
        for n in range(30)
    ]  # fmt: skip
    many = replace(long_boot, slices=[*long_boot.slices[:4], *lines, *long_boot.slices[4:]])
    marks = analysis_of(long_boot).record.marks
    parts = parts_of(many, marks)
    assert [part.name for part in parts] == [
        "firmware", "decompressor", "kernel head", "kernel core", "initcalls", "before init", "exec of init",
        "user space", "after ready",
    ]  # fmt: skip
    assert [index for part in parts for index in part.slices] == list(range(len(many.slices)))
    assert [part.shown for part in parts] == [True] * 8 + [False]


def test_two_marks_at_one_moment_make_no_empty_part(long_boot: Profile) -> None:
    last = long_boot.slices[-1]
    empty = replace(last, name="ready", start_ns=last.end_ns, weights=last.weights[:0])
    parts = parts_of(replace(long_boot, slices=[*long_boot.slices, empty]), analysis_of(long_boot).record.marks)
    assert [part.name for part in parts] == [
        part.name for part in parts_of(long_boot, analysis_of(long_boot).record.marks)
    ]
    assert parts[-1].slices == range(8, 10)


def test_a_mark_of_the_user_cuts_its_phase(long_boot: Profile) -> None:
    marks = {name: t_ns for name, t_ns in analysis_of(long_boot).record.marks.items() if name != m.INIT_EXEC}
    names = [part.name for part in parts_of(long_boot, marks)]
    assert names[5:7] == [
        "before init + exec of init, to init_exec",
        "before init + exec of init, to first_user_instruction",
    ]
