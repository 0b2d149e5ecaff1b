"""The files that a boot never opened, for a terminal: the largest of them, and what a boot without them took."""

from bootlab.findings.unused_result import UnusedPart, UnusedResult
from bootlab.measure.record import Outcome
from bootlab.report.parts.figures import count, ms, percent, visible

_LARGEST = 12
"""How many folders and files are shown; the list that is written has all."""


def unused(result: UnusedResult) -> list[str]:
    """Return a result in lines."""
    lines = []
    for name, part in result.parts.items():
        share = percent(part.unused_bytes, part.bytes)
        verb = "read" if result.notes else "opened"
        head = f"{name}: {part.unused_files} of {part.files} files were never {verb}"
        lines.append(f"{head}, {count(part.unused_bytes)} of {count(part.bytes)} bytes ({share or '0.0'} %)")
        lines += [f"  {count(size):>14}  {visible(path)}" for path, size in _largest(part)]
    if result.outcome_without is not None:
        lines += _without(result, result.outcome_without)
    if result.packages:
        lines.append(f"no file was opened of {len(result.packages)} packages: {', '.join(result.packages)}")
        lines.append(f"without them: {result.packages_list}")
    lines += [f"note: {note}" for note in result.notes]
    return [*lines, f"list: {result.written}"]


def _without(result: UnusedResult, outcome: Outcome) -> list[str]:
    lines = []
    for name, part in result.parts.items():
        if part.size is not None and part.size_without is not None:
            less = percent(part.size_without - part.size, part.size, sign=True)
            lines.append(f"{name} {count(part.size)} -> {count(part.size_without)} bytes ({less or '0.0'} %)")
    if result.ready_without_ns is None or outcome is not Outcome.READY:
        return [*lines, f"without them: {outcome.value} {visible(result.detail_without or '')}"]
    checked = ", check passed" if result.checked else ""
    return [*lines, f"ready {ms(result.ready_ns)} -> {ms(result.ready_without_ns)} ms without them{checked}"]


def _largest(part: UnusedPart) -> list[tuple[str, int]]:
    # Both are sorted by path, but a folder's files need not follow it at once.
    sizes = dict.fromkeys(part.without, 0)
    for file in part.unused:
        path = file.path
        while path and path not in sizes:
            path = path.rpartition("/")[0]
        if path:
            sizes[path] += file.bytes
    return sorted(sizes.items(), key=lambda item: -item[1])[:_LARGEST]
