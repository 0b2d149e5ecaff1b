"""A gate's answer as continuous integration reads it: GitHub, GitLab, JUnit, Markdown, metrics, reference values."""

import hashlib
import json
import xml.etree.ElementTree as xml
from collections.abc import Callable, Mapping
from typing import Final

from bootlab.ledger.gate.judging import GateVerdict
from bootlab.ledger.gate.result import GateFigure, GateResult
from bootlab.report.gate.text import (
    FIGURE_COLUMNS,
    GROWN_COLUMNS,
    PHASE_COLUMNS,
    column_words,
    grown_figure,
    named,
    rate_words,
    shown_growth,
)
from bootlab.report.parts.figures import clock_sentence, ms, percent, short_hashes, visible
from bootlab.report.parts.markdown import bold, markdown_table, plain, prose

_STOPS: Final = (GateVerdict.LONGER, GateVerdict.BROKEN)


def gate_markdown(result: GateResult) -> str:
    """Return the answer for a document, a message or a job's summary."""
    parts = [f"{bold(result.verdict.value)}: {plain(result.system)} against {plain(named(result))}."]
    if result.why:
        parts.append(prose(plain(result.why)))
    if result.figures:
        rows = [
            [
                plain(one.what),
                ms(one.before_ns),
                ms(one.after_ns),
                ms(one.longer_ns, sign=True),
                percent(one.longer_ns, one.before_ns, sign=True),
                ms(one.limit_ns),
                ms(one.smallest_ns),
                f"{one.verdict.value}{f': {plain(one.why)}' if one.why else ''}",
            ]
            for one in result.figures
        ]
        parts += [markdown_table(FIGURE_COLUMNS, rows), prose(f"{plain(column_words(result))}.")]
    if result.phases:
        phases = [[plain(one.name), ms(one.before_ns), ms(one.after_ns), ms(one.after_ns - one.before_ns, sign=True)]
                  for one in result.phases]  # fmt: skip
        parts.append(markdown_table(PHASE_COLUMNS, phases))
    shown, more = shown_growth(result)
    if shown:
        rows = [
            [one.kind.value, plain(one.name), grown_figure(one, one.before), grown_figure(one, one.after),
             grown_figure(one, one.more)]
            for one in shown
        ]  # fmt: skip
        parts.append(markdown_table(GROWN_COLUMNS, rows))
    if more:
        parts.append(prose(f"And {more}."))
    changed = f"Differs: {', '.join(map(plain, result.changed))}. " if result.changed else ""
    clock = clock_sentence(result.clock, result.ns_per_instruction, result.cpu, result.seeds, result.accelerator)
    parts.append(prose(f"{changed}{rate_words(result)}; {clock}. {short_hashes(result.hashes)}."))
    return "\n\n".join(parts) + "\n"


def gate_github(result: GateResult) -> str:
    """Return workflow commands, which GitHub shows beside the change."""
    if not result.figures:
        return _annotation("error", result.system, visible(result.why))
    kinds = {GateVerdict.LONGER: "error", GateVerdict.CANNOT_SAY: "warning"}
    said = [(kinds.get(one.verdict, "notice"), _sentence(one)) for one in result.figures]
    if result.grown:
        said.append(("notice", _growth(result)))
    return "".join(_annotation(kind, result.system, words) for kind, words in said)


def gate_gitlab(result: GateResult) -> str:
    """Return GitLab's code quality report: one finding for each figure that is stopped or cannot be told."""
    findings = []
    failed = [one for one in result.figures if one.verdict in (GateVerdict.LONGER, GateVerdict.CANNOT_SAY)]
    said = [(one.what, one.verdict, _sentence(one)) for one in failed]
    if result.verdict is GateVerdict.BROKEN:
        said.append(("boot", GateVerdict.BROKEN, visible(result.why)))
    growth = f". {_growth(result)}" if result.grown else ""
    for what, verdict, sentence in said:
        findings.append(
            {
                "description": visible(f"{result.system}: {sentence}{growth}"),
                "check_name": f"boot time: {what}",
                "fingerprint": hashlib.sha256(f"{result.system} {what}".encode()).hexdigest(),
                "severity": "major" if verdict in _STOPS else "minor",
                "location": {"path": visible(result.file or result.system), "lines": {"begin": 1}},
            }
        )
    return json.dumps(findings, indent=1) + "\n"


def gate_junit(result: GateResult) -> str:
    """Return a JUnit report: a test for each figure; one that cannot be told is skipped, with the reason."""
    stopped = sum(one.verdict in _STOPS for one in result.figures)
    skipped = sum(one.verdict is GateVerdict.CANNOT_SAY for one in result.figures)
    broken = result.verdict is GateVerdict.BROKEN
    suite = xml.Element(
        "testsuite",
        name=f"boot time of {_xml(result.system)}",
        tests=str(len(result.figures) or 1),
        failures=str(stopped),
        errors=str(int(broken)),
        skipped=str(skipped),
    )
    for one in result.figures:
        case = xml.SubElement(suite, "testcase", classname=_xml(result.system), name=_xml(one.what))
        case.set("time", f"{one.after_ns / 1e9:.9f}")
        if one.verdict is GateVerdict.LONGER:
            failure = xml.SubElement(case, "failure", message=_xml(_sentence(one)), type="longer")
            failure.text = _xml(_growth(result)) if result.grown else None
        elif one.verdict is GateVerdict.CANNOT_SAY:
            xml.SubElement(case, "skipped", message=_xml(_sentence(one)))
    if broken:
        case = xml.SubElement(suite, "testcase", classname=_xml(result.system), name="boot")
        xml.SubElement(case, "error", message=_xml(result.why), type="broken")
    xml.indent(suite)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{xml.tostring(suite, encoding="unicode")}\n'


def gate_openmetrics(result: GateResult) -> str:
    """Return the figures as OpenMetrics has them (seconds), which Prometheus and GitLab's metrics reports read."""
    labels = f'system="{_label(result.system)}",clock="{_label(result.clock)}"'
    lines = ["# TYPE bootlab_boot_ready gauge", "# HELP bootlab_boot_ready 1 where every boot was ready and well."]
    lines.append(f"bootlab_boot_ready{{{labels}}} {int(result.verdict is not GateVerdict.BROKEN)}")
    for name, about, values in (
        ("boot_seconds", "Power-on to ready, or a phase of it", {one.what: one.after_ns for one in result.figures}),
        (
            "boot_longer_seconds",
            "Longer than what it was held against",
            {one.what: one.longer_ns for one in result.figures},
        ),
        ("boot_limit_seconds", "By how much it may be longer", {one.what: one.limit_ns for one in result.figures}),
    ):
        lines += [f"# TYPE bootlab_{name} gauge", f"# UNIT bootlab_{name} seconds", f"# HELP bootlab_{name} {about}."]
        for what, ns in values.items():
            labels = f'system="{_label(result.system)}",figure="{_label(what)}",clock="{_label(result.clock)}"'
            lines.append(f"bootlab_{name}{{{labels}}} {ns / 1e9:.9f}")
    return "\n".join([*lines, "# EOF"]) + "\n"


def gate_bencher(result: GateResult) -> str:
    """Return Bencher's metric format: latency in ns, with the spread as its bounds; `ready` is 0 for a broken boot."""
    ready = {"ready": {"value": int(result.verdict is not GateVerdict.BROKEN)}}
    document: dict[str, dict[str, dict[str, int]]] = {f"{result.system} boot": ready}
    document |= {
        f"{result.system} {one.what}": {
            "latency": {
                "value": one.after_ns,
                "lower_value": max(0, one.after_ns - one.spread_ns),
                "upper_value": one.after_ns + one.spread_ns,
            }
        }
        for one in result.figures
    }
    return json.dumps(document, indent=1) + "\n"


def gate_reference(result: GateResult) -> str:
    """Return reference values in YAML, as the boot-time test that was proposed for kselftest reads them: mark: seconds.

    Its times are since power-on, of the median boot; comments say of which machine. A broken boot has none.
    """
    clock = clock_sentence(result.clock, result.ns_per_instruction, result.cpu, result.seeds, result.accelerator)
    lines = [f"# {visible(result.system)}: seconds since power-on; {visible(clock)}."]
    lines += [f"# {name}: {digest}" for name, digest in sorted(result.hashes.items())]
    if not result.marks:
        lines.append(f"# {visible(result.why) or 'no marks'}")
    lines += [f"{json.dumps(visible(name))}: {ns / 1e9:.9f}" for name, ns in result.marks.items()] or ["{}"]
    return "\n".join(lines) + "\n"


FORMS: Final[Mapping[str, Callable[[GateResult], str]]] = {
    "markdown": gate_markdown,
    "github": gate_github,
    "gitlab": gate_gitlab,
    "junit": gate_junit,
    "openmetrics": gate_openmetrics,
    "bencher": gate_bencher,
    "reference": gate_reference,
}
"""The forms by the names that --format takes."""


def _sentence(one: GateFigure) -> str:
    share = percent(one.longer_ns, one.before_ns, sign=True)
    moved = f"{ms(one.before_ns)} -> {ms(one.after_ns)} ms ({share} %)"
    words = f"{one.what} {one.verdict.value}: {moved}, limit {ms(one.limit_ns)} ms"
    return visible(f"{words}; {one.why}" if one.why else words)


def _growth(result: GateResult) -> str:
    shown, more = shown_growth(result)
    names = [
        f"{one.kind.value} {one.name} {'is new' if one.before is None else 'grew'} (+{grown_figure(one, one.more)})"
        for one in shown
    ]
    return visible(f"New or grew: {', '.join(names)}{f', and {more}' if more else ''}.")


def _annotation(kind: str, system: str, words: str) -> str:
    # What GitHub reads as the end of a property or of a line is escaped as its own toolkit does it.
    title = visible(f"boot time of {system}")
    for sign, code in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A")):
        title, words = title.replace(sign, code), words.replace(sign, code)
    title = title.replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} title={title}::{words}\n"


def _xml(text: str) -> str:
    # XML 1.0 has no place for these, not even escaped.
    return visible(text).replace("\ufffe", "").replace("\uffff", "")


def _label(value: str) -> str:
    return visible(value).replace("\\", "\\\\").replace('"', '\\"')
