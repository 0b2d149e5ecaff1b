"""Console lines that a host stamped -> Recording, with the kernel's initcalls placed on the host's clock.

Where lines carry the kernel's own stamps too, the lower envelope of the differences tells how late lines came: the
first ones by all the time before the console was registered.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from bootlab.errors import InputError
from bootlab.importers.kernel import dmesg
from bootlab.importers.kernel import log as kernel_log
from bootlab.importers.kernel.boot_phases import OPEN_END, USER_SPACE, find_kernel_end
from bootlab.importers.kernel.line import KernelLine, find_stamp, parse_row
from bootlab.importers.onto_another_clock import place_spans
from bootlab.importers.serial.boot_programs import DECOMPRESSOR, programs_before_linux
from bootlab.importers.serial.console_lines import ConsoleLine
from bootlab.timeline.clock import Alignment, Clock, align
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import MOST_SPANS, Recording
from bootlab.timeline.timeline import Timeline

CONSOLE: Final = Clock("console", 1_000)
"""The host's stamps of console lines: in microseconds, as grabserial prints them."""
_LONGEST_TEXT: Final = 4096
_LATE_NS: Final = 5_000_000
_BANNER = re.compile(r"Linux version \d")


def console_recording(lines: Sequence[ConsoleLine], *, format_name: str, tool: str, about_clock: str) -> Recording:
    """Return what one console's lines say, of which there is one at least."""
    log = dmesg.parse("\n".join(line.text for line in lines))
    kernel = kernel_log.recording_of(log, format_name, host_stamped=True)
    pairs = stamped_pairs(lines)
    try:
        alignment = align(pairs, dmesg.PRINTK, CONSOLE)
    except InputError:
        alignment = None
    placed, unplaced = place_spans(kernel.timeline.spans, alignment)
    return Recording(
        format=format_name,
        tool=tool,
        timeline=Timeline.of(CONSOLE, console_events(lines), placed),
        about_clock=about_clock,
        phases=tuple(_phases(lines, alignment)),
        lengths=(*unplaced, *kernel.lengths),
        facts=kernel.facts,
        notes=(*_notes(pairs, alignment, len(unplaced)), *kernel.notes),
    )


def console_events(lines: Sequence[ConsoleLine]) -> list[Event]:
    """Return the first lines as events."""
    return [Event(line.t_ns, "console", line.text[:_LONGEST_TEXT]) for line in lines[:MOST_SPANS]]


def _phases(lines: Sequence[ConsoleLine], alignment: Alignment | None) -> Iterator[Span]:
    programs = programs_before_linux([line.text for line in lines])
    cuts = [("before the first program that names itself" if programs else "before the kernel's first line",
             lines[0].t_ns)]  # fmt: skip
    cuts += [(program.name, lines[program.first].t_ns) for program in programs]
    banner = next((line for line in lines if _BANNER.search(line.text)), None)
    quiet = banner is None and bool(programs) and (
        programs[-1].name == DECOMPRESSOR or any(find_stamp(line.text) is not None for line in lines)
    )  # fmt: skip
    if quiet:
        # A kernel ran, and never named itself.
        cuts[-1] = (f"{cuts[-1][0]} and what follows: no line tells where it ends", cuts[-1][1])
    handed_over = _kernel_end(lines) if banner is not None or quiet else None
    for name, line in (("kernel" if handed_over is not None else OPEN_END, banner), (USER_SPACE, handed_over)):
        if line is None:
            continue
        stamp_ns = find_stamp(line.text)
        covered = alignment is not None and stamp_ns is not None and alignment.covers(stamp_ns)
        at_ns = alignment.translate(stamp_ns) if covered and alignment and stamp_ns is not None else line.t_ns
        cuts.append((name, max(at_ns, cuts[-1][1])))
    for (name, start), (_, end) in zip(cuts, [*cuts[1:], ("", lines[-1].t_ns)], strict=True):
        if end > start and len(cuts) > 1:
            yield Span(start, end, "phase", name)


def _kernel_end(lines: Sequence[ConsoleLine]) -> ConsoleLine | None:
    # What the kernel's log itself would be asked, with the host's stamps for its own.
    messages = {index: tuple(parse_row(line.text))[-1:] for index, line in enumerate(lines)}
    said = [KernelLine(index, None, None, found[0].text) for index, found in messages.items() if found]
    end = find_kernel_end(tuple(said))
    return lines[end.t_ns] if end is not None else None


def stamped_pairs(lines: Sequence[ConsoleLine]) -> list[tuple[int, int]]:
    """Return (kernel's stamp, console's stamp) in ns of the lines that carry both, in order of arrival."""
    pairs = []
    for line in lines:
        stamp_ns = find_stamp(line.text)
        if stamp_ns is not None:
            pairs.append((stamp_ns, line.t_ns))
    return pairs


def _notes(pairs: Sequence[tuple[int, int]], alignment: Alignment | None, unplaced: int) -> Iterator[str]:
    if alignment is None:
        if pairs:
            yield f"Only {len(pairs)} lines carry the kernel's stamp: too few to place its clock on this one."
        return
    ms = 1_000_000
    yield (
        f"The kernel's clock is {alignment.offset_ns / ms:.3f} ms behind the console's, +- "
        f"{alignment.uncertainty_ns / ms:.3f} ms (the lower envelope of {len(pairs)} lines)."
    )
    if alignment.since_ns > 0:
        yield (
            f"This holds from the kernel's {alignment.since_ns / 1e9:.3f} s on. Before, its clock stood still, stepped "
            "or lost time, or its lines were late"
            + (
                f": what it stamped then has lengths and no place on this clock ({unplaced} spans)."
                if unplaced
                else "."
            )
        )
    late = [arrived - stamp - alignment.offset_ns for stamp, arrived in pairs if alignment.covers(stamp)]
    many = [delay for delay in late if delay > _LATE_NS + alignment.uncertainty_ns]
    if many:
        yield (
            f"{len(many)} kernel lines came late, the latest by {max(many) / ms:.1f} ms: written before the console "
            "was registered, or faster than it could print. Their own stamps tell when they were written."
        )
