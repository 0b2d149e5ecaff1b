"""The page of a profiled boot, and that of two of them: the whole boot as pictures and tables, in one file.

The call tree and the spans are in the page as columns of numbers (number_columns.py), drawn on a canvas by scripts. All
else is plain HTML.
"""

from collections.abc import Iterable, Mapping, Sequence

from bootlab.errors import InputError
from bootlab.findings.analysis import Analysis
from bootlab.profile.tree.differential import compare_trees
from bootlab.report.boots.reads import reads_table
from bootlab.report.boots.side_by_side import Side
from bootlab.report.parts.console import Console
from bootlab.report.parts.figures import clock_of, count, ms, percent
from bootlab.report.parts.markup import Content, Html, join, tag
from bootlab.report.parts.sections import (
    console_folds,
    key_figure,
    key_figures,
    minus,
    record_provenance,
    section,
    short_hash_list,
    waterfall,
)
from bootlab.report.parts.whole_page import page_header, shell
from bootlab.report.profile import sections, tables, waits
from bootlab.report.profile.downloads import file_links
from bootlab.report.profile.kvm_section import kvm
from bootlab.report.profile.pictures import SCRIPTS, flame_chart, flame_graph, without_scripts
from bootlab.report.profile.shown_parts import common_phases, parts_of, phase_parts
from bootlab.report.profile.text import past_ready_words
from bootlab.report.profile.time_blocks import TrackSpan, time_block
from bootlab.report.profile.tree_blocks import both_block, number_tree, tree_block

_STYLES = ("profile.css",)
_IN_CONTENTS = {"advice": "Removable", "initcalls": "Initcalls", "interrupts": "Interrupts", "coverage": "Coverage"}
_NO_SCRIPTS = "The flame graph and the flame chart need scripts. The tables are complete without them."


def profile_page(analysis: Analysis, consoles: Sequence[Console] = (), files: Mapping[str, str] | None = None) -> str:
    """Return the page of a profiled boot, ready or not. `files`: label -> file beside the page, or path elsewhere."""
    record = analysis.record
    numbering = number_tree(analysis.profile, analysis.whole_tree)
    named = _sections(analysis, consoles, files or {})
    head = page_header(
        "boot profile", record.system, clock_of([record]), join([_keys(analysis), *_cautions(analysis)]),
        short_hash_list(record.hashes, record.board_model),
    )  # fmt: skip
    blocks = [
        tree_block(analysis.profile, numbering, parts_of(analysis.profile, record.marks)),
        time_block(
            analysis.profile, numbering, record.marks, _tracks(analysis), _wake_notes(analysis), _a_bit_more(analysis)
        ),
    ]
    content = [_contents(named), *(one for _, _, one in named)]
    return shell(f"{record.system}: boot profile", head, content, styles=_STYLES, scripts=SCRIPTS, data=blocks)


def differential_page(before: Analysis, after: Analysis, files: Mapping[str, str] | None = None) -> str:
    """Return the page that lays one profiled boot over another: what takes more, and what takes less.

    Raises InputError when an instruction is not the same time in both.
    """
    if before.profile.shift != after.profile.shift:
        raise InputError("an instruction does not take the same time in both profiles, so they cannot be compared")
    sides = [(one.profile, number_tree(one.profile, one.whole_tree)) for one in (before, after)]
    phases = common_phases(before.record.marks, after.record.marks)
    parts = [phase_parts(one.profile, cuts) for one, cuts in zip((before, after), phases, strict=True)]
    shortest = min(len(one) for one in parts)
    difference = compare_trees(before.whole_tree, after.whole_tree)
    changed = sections.changed_functions(compare_trees(before.tree, after.tree), _common_goal(before, after))
    block = both_block(difference, sides, [one[:shortest] for one in parts])
    named = [
        ("flame-graph", "What takes more, what less", section(
            "flame-graph", "What takes more, what less", without_scripts(_NO_SCRIPTS), flame_graph(both=True),
            lead="Both boots in one call tree, path by path. Tasks of one name are one, whatever their pids.",
        )),
        ("functions", "Functions", section(
            "functions", "Functions", changed
        )),
        ("phases", "Phase by phase", section("phases", "Phase by phase", waterfall([
            Side("before", "baseline", before.record.ready_ns, before.record.phases),
            Side("after", "recommended", after.record.ready_ns, after.record.phases),
        ], before.record.clock))),
        ("files", "Files", section("files", "Files", file_links(files))) if files else None,
        *(
            (f"provenance-{words}", f"Provenance, {words}", record_provenance(one.record, words))
            for words, one in (("before", before), ("after", after))
        ),
    ]  # fmt: skip
    one, other = before.record, after.record
    name = one.system if one.system == other.system else f"{one.system} \N{RIGHTWARDS ARROW} {other.system}"
    shown = [entry for entry in named if entry is not None]
    head = page_header("two boot profiles", name, clock_of([one, other]), _compare_keys(before, after), Html())
    content = [_contents(shown), *(entry[2] for entry in shown)]
    return shell(f"{name}: boot profiles", head, content, styles=_STYLES, scripts=SCRIPTS, data=[block])


_Named = tuple[str, str, Html]


def _sections(analysis: Analysis, consoles: Sequence[Console], files: Mapping[str, str]) -> list[_Named]:
    clock, end_ns = analysis.record.clock, analysis.end_ns
    goal = analysis.goal
    least = max(end_ns // 1000, 1)
    lanes = [(least, f"that ran {ms(least)} ms or more"), (0, "all")]
    made: list[tuple[str, str, Content, Content]] = [
        ("flame-graph", "Flame graph", join([without_scripts(_NO_SCRIPTS), flame_graph()]),
         "Every instruction of the boot, under the task and the functions that executed it."),
        ("functions", "Functions", sections.functions(analysis.tree, goal), None),
        ("flame-chart", "Flame chart", flame_chart(lanes), "The same in the order of time, with every wait."),
        ("critical-path", "Critical path", sections.critical_path(analysis.critical_path),
         f"From power-on to {goal} as one chain: what ran, and what was waited for when nothing of it could run."),
        ("phases", "Phases", join([sections.phases(analysis.activity, clock), reads_table([analysis.record])]), None),
        ("advice", "What could be removed", sections.advice(analysis.advice), None),
        *([("programs", "Before the kernel", tables.programs(analysis.activity, analysis.tree.shift),
            "Which driver, loader or stage executed what, itself and not by what it called.")]
          if any(phase.programs for phase in analysis.activity.phases) else []),
        *([("kvm", "Under KVM", kvm(analysis),
            f"What the boot would make KVM do up to {goal}, and what that costs on a host.")]
          if analysis.price is not None else []),
        ("waits", "Waits",
         join([waits.waits(analysis.waits, end_ns, goal), waits.busy_waits(analysis.activity.busy_waits, goal)]),
         "Who slept, from where, and who woke it. A wait costs the boot only where the critical path goes through it."),
        ("initcalls", "Initcalls, modules and probes", tables.initcalls(analysis.initcalls, end_ns), None),
        ("processes", "Processes", tables.processes(analysis.processes, analysis.profile, end_ns, goal), None),
        ("syscalls", "System calls", tables.syscalls(analysis.syscalls, after_ready=analysis.goal == "ready"), None),
        ("interrupts", "Interrupts and deferred work", tables.interrupts(analysis.activity, goal), None),
        ("devices", "Devices", tables.devices(analysis.activity, goal), None),
        ("coverage", "Functions executed", tables.coverage(analysis.coverage, goal), None),
        ("account", "Account", sections.account(analysis.account), None),
    ]  # fmt: skip
    if consoles:
        made.append(("console", "Console", console_folds(consoles), None))
    if files:
        made.append(("files", "Files", file_links(files), "Paths are from the directory of this page."))
    named = [(name, title, section(name, title, content, lead=lead)) for name, title, content, lead in made]
    return [*named, ("provenance", "Provenance", record_provenance(analysis.record))]


def _contents(named: Iterable[_Named]) -> Html:
    links = (tag("li", tag("a", _IN_CONTENTS.get(name, title), href=f"#{name}")) for name, title, _ in named)
    return tag("nav", tag("ul", *links), class_="contents", aria_label="Contents")


def _keys(analysis: Analysis) -> Html:
    record, account = analysis.record, analysis.account.ready
    ready = record.ready_ns
    unit = f"ms {record.clock}"
    figures = [
        key_figure("ready" if ready else "outcome", "recommended" if ready else "failed",
                   ms(ready) or record.outcome.value, unit if ready else "", record.detail or f"seed {record.seed}"),
        key_figure("instructions", "", count(account.instructions), "", f"up to {account.at}"),
        key_figure("idle", "", ms(account.idle_ns), unit,
                   f"{percent(account.idle_ns, account.virtual_ns)} % of it: no instruction ran"),
    ]  # fmt: skip
    largest = next((item for item in analysis.advice.items if item.remedy is not None), None)
    if largest is not None and largest.remedy is not None:
        note = join([largest.what, ": ", tag("code", largest.remedy.technique)])
        figures.append(key_figure("largest removable cost", "risks", ms(largest.cost_ns), unit, note))
    return key_figures(*figures)


def _cautions(analysis: Analysis) -> list[Html]:
    words = list(analysis.about.missing)
    if not analysis.profile.complete:
        words.insert(0, "The profile was cut off: the page shows what was saved.")
    elif not analysis.account.closed:
        words.insert(0, "The account of this profile does not add up: see its section.")
    if analysis.past_ready_ns:
        said = past_ready_words(analysis.past_ready_ns)
        words.insert(0, f"{said[0].upper()}{said[1:]}.")
    return [tag("p", one, class_="caution", role="note") for one in words]


def _tracks(analysis: Analysis) -> dict[str, list[TrackSpan]]:
    path = [
        TrackSpan(one.start_ns, one.end_ns, sections.segment_name(one), sections.PATH_KINDS[one.kind.value],
                  sections.segment_note(one))
        for one in analysis.critical_path.segments
    ]  # fmt: skip
    bars = ((lane.thread, bar) for lane in analysis.initcalls.lanes for bar in lane.bars)
    calls = [
        TrackSpan(
            bar.start_ns, bar.end_ns, bar.name, tables.BAR_KINDS.get(bar.kind, "other"), f"{bar.kind}, in {thread}"
        )
        for thread, bar in bars
        if bar.end_ns > bar.start_ns
    ]
    return {"Critical path": path, "Initcalls, modules, probes": calls}


def _wake_notes(analysis: Analysis) -> dict[tuple[int, int], str]:
    return {
        (one.task, one.start_ns): f"{waits.where(one)}; woken by {waits.woken(one.waker)}"
        for one in analysis.waits.waits
    }


def _a_bit_more(analysis: Analysis) -> int:
    # So that the mark at the end can be seen.
    return min(analysis.end_ns + analysis.end_ns // 40, analysis.profile.end_ns)


def _common_goal(before: Analysis, after: Analysis) -> str:
    return before.goal if before.goal == after.goal else "ready, or where one ended"


def _compare_keys(before: Analysis, after: Analysis) -> Html:
    one, other = before.record.ready_ns, after.record.ready_ns
    unit = f"ms {before.record.clock}"
    figures = [
        key_figure("before", "baseline", ms(one) or "not ready", unit if one else "", before.record.system),
        key_figure("after", "recommended", ms(other) or "not ready", unit if other else "", after.record.system),
    ]
    spent = (before.account.ready.instructions, after.account.ready.instructions)
    if one and other:
        note = f"{minus(percent(other - one, one, sign=True))} %"
        figures.append(key_figure("change", "", minus(ms(other - one, sign=True)), unit, note))
    note = f"{minus(percent(spent[1] - spent[0], spent[0], sign=True))} %, up to {_common_goal(before, after)}"
    figures.append(key_figure("instructions", "", minus(f"{spent[1] - spent[0]:+,}"), "", note))
    return key_figures(*figures)
