"""Figures and sentences shared by the terminal and the page: units, shares, hashes, and which clock a figure is on.

A figure never stands without its clock: an instruction-counting clock is exact about what was executed and waited for,
and says nothing about speed. Text from outside (consoles, paths, facts) passes through `visible` before it is shown.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bootlab.measure.line_and_card_cost import board_terms
from bootlab.measure.record import BootRecord, ConsoleStamps, DiskRecord, PriceRecord
from bootlab.measure.statistics.series import median_ns

_ESCAPE_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")
# Controls would act on a terminal; bidirectional overrides would make a line read as something it is not.
_UNSEEN = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def visible(text: str) -> str:
    """Return `text` as one line without terminal escapes; other control characters are spelled out (`\\x07`)."""
    return _UNSEEN.sub(_spelled, _ESCAPE_SEQUENCE.sub("", text))


def _spelled(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def ms(ns: int | None, *, sign: bool = False) -> str:
    """Return ns as milliseconds with two decimals, without the unit; empty for None."""
    if ns is None:
        return ""
    value = round(ns / 1e6, 2) or 0.0
    return f"{value:+.2f}" if sign and value else f"{value:.2f}"


def percent(part_ns: int | None, whole_ns: int | None, *, sign: bool = False) -> str:
    """Return a share in percent with one decimal, without the unit; empty when there is none."""
    if part_ns is None or not whole_ns:
        return ""
    share = round(100 * part_ns / whole_ns, 1) or 0.0
    return f"{share:+.1f}" if sign and share else f"{share:.1f}"


def spread_words(spread_ns: int | None, whole_ns: int | None) -> str:
    """Return a spread and its share, as in `0.36 ms (0.023 %)`; in ns where ms would read as nothing."""
    if spread_ns is None or not whole_ns:
        return "unknown"
    figure = f"{count(spread_ns)} ns" if spread_ns < 10_000 else f"{ms(spread_ns)} ms"
    return f"{figure} ({100 * spread_ns / whole_ns:.2g} %)"


def count(number: int | None) -> str:
    """Return an integer with digit groups; empty for None."""
    return "" if number is None else f"{number:,}"


def mib(size: int | None) -> str:
    """Return a number of bytes as MiB with one decimal; nothing for None."""
    return "" if size is None else f"{size / (1 << 20):.1f}"


def size_words(size: int) -> str:
    """Return a number of bytes as people say it: in MiB, from 1 GiB on in GiB, with one decimal."""
    return f"{size / (1 << 20):.1f} MiB" if size < 1 << 30 else f"{size / (1 << 30):.1f} GiB"


def short_hash(digest: str) -> str:
    """Return the first 12 characters of a hash: enough to tell two inputs apart by eye."""
    return visible(digest)[:12]


def short_hashes(hashes: Mapping[str, str]) -> str:
    """Return `kernel 0123456789ab, qemu ...` in the order given."""
    return ", ".join(f"{visible(name)} {short_hash(digest)}" for name, digest in hashes.items())


def clock_sentence(
    clock: str, ns_per_instruction: int | None, cpu: str, seeds: Sequence[int], accelerator: str = ""
) -> str:
    """Return the sentence that says what a figure on this clock means. Every table and page ends with it."""
    cpu = f"CPU model {visible(cpu)}"
    if clock == "virtual":
        rate = "instructions" if ns_per_instruction is None else f"{ns_per_instruction} ns per instruction"
        which = f"{'seed' if len(seeds) == 1 else 'seeds'} {' '.join(map(str, seeds))}"
        return f"virtual clock: {rate} + idle, {cpu}, {which}; a ratio is 'instructions + idle', not speed"
    if clock == "wall":
        under = f" under {accelerator.upper()}" if accelerator else ""
        sentence = f"wall clock: host monotonic time{under}, {cpu}; repeatable only statistically, and on this host"
        if accelerator == "tcg":
            sentence += "; TCG wall time is mostly translation: never quote it as speed"
        return sentence
    if clock == "outside":
        return (
            "outside clock: this host's monotonic time of each answer; repeatable only statistically, over this network"
        )
    return f"{visible(clock)} clock: host monotonic time of each line's first byte; repeatable only statistically"


def clock_of(records: Sequence[BootRecord]) -> str:
    """Return the clock sentence of boots of one system."""
    first = records[0]
    seeds = sorted({record.seed for record in records})
    sentence = clock_sentence(first.clock, first.ns_per_instruction, first.cpu, seeds, first.accelerator)
    if first.accelerator == "replay":
        sentence += "; played again from boots on record: no machine ran"
    if charged := max(record.charged_ns for record in records):
        by = "clock.host_model" if "host_model" in first.hashes else "clock.charges"
        sentence += f"; up to {charged / 1e6:.2f} ms of a boot is charged ({by})"
    sentence += price_sentence(next((record.price for record in records if record.price is not None), None))
    stamped = [record.stamps for record in records if record.stamps is not None]
    if not stamped:
        return sentence
    return f"{sentence}; {_stamp_words(stamped)}"


def _stamp_words(stamped: Sequence[ConsoleStamps]) -> str:
    # Of several boots the worst of each.
    byte_ns, power_ns = max(one.byte_ns for one in stamped), max(one.power_ns for one in stamped)
    lates = [one.late_ns for one in stamped]
    byte = f"a byte time, {byte_ns / 1000:.1f} us" if byte_ns else "a byte time, which is not known"
    measured = [late_ns for late_ns in lates if late_ns is not None]
    if len(measured) == len(lates):
        late = f"{max(measured) / 1e6:.2f} ms by which this host may have stamped too late"
    else:
        late = "to how late this host stamped, which is not known"
    power = f"; time 0 lies in the {power_ns / 1e6:.2f} ms that switching on took" if power_ns else ""
    return f"good to {byte}, and {late}{power}"


def model_lines(records: Sequence[BootRecord]) -> list[str]:
    """Return what a stated model adds to each boot, or takes of it; no line for boots without a model."""
    lines = []
    for record in records:
        if record.storage is not None:
            of = f"{visible(record.system)}: " if len(records) > 1 else ""
            whole = f"{ms(record.total_ns)} ms to ready in all" if record.total_ns is not None else "never ready"
            lines.append(f"{of}{record.storage.words}, before power-on: {ms(record.load_ns)} ms; {whole}")
        lines += _board_lines(record, f"{visible(record.system)}: " if len(records) > 1 else "")
        lines += disk_lines(record, f"{visible(record.system)}: " if len(records) > 1 else "")
    return lines


def disk_lines(record: BootRecord, of: str = "") -> list[str]:
    """Return what each modelled disk of a boot was asked for, and how long it took; `of` stands before each line."""
    return [_disk_line(disk, of) for disk in record.disks]


def _disk_line(disk: DiskRecord, of: str) -> str:
    did = [
        f"{count(number)} {words[number != 1]}" + (f" of {size / 2**20:.1f} MiB" if size else "")
        for number, words, size in (
            (disk.reads, ("read", "reads"), disk.read_bytes),
            (disk.writes, ("write", "writes"), disk.written_bytes),
            (disk.flushes, ("flush", "flushes"), 0),
        )
        if number
    ]
    each = disk.waited_ns // (disk.reads + disk.writes + disk.flushes)
    at_once = disk.waited_ns / disk.busy_ns if disk.busy_ns else 1
    return (
        f"{of}{visible(disk.drive)} is a modelled disk ({visible(disk.model)}): {', '.join(did)}; "
        f"busy {ms(disk.busy_ns)} ms, {ms(each)} ms a request, {at_once:.1f} at once, up to ready"
    )


def _board_lines(record: BootRecord, of: str) -> list[str]:
    terms = board_terms(record)
    if terms is None or record.board_model is None:
        return []
    model = f"{of}board model {record.board_model.label}"
    if record.ready_ns is None:
        return [model]
    kept = [
        ("bootloader for the line", terms.loader_line_ns),
        ("bootloader for the storage", terms.loader_card_ns),
        ("kernel for the line", terms.kernel_line_ns),
        ("kernel's transfers", terms.kernel_card_ns),
    ]
    said = ", ".join(f"{what} {ms(time)} ms" for what, time in kept if time is not None) or "the guest did not say"
    lines = [f"{model}; waited in these times: {said}"]
    camera = [
        ("power-on to its power", terms.camera_powered_ns),
        ("power to there", terms.camera_enumeration_ns),
        ("there to ready", terms.camera_to_ready_ns),
    ]
    if terms.camera_to_ready_ns is not None:
        lines.append(f"{of}camera: " + ", ".join(f"{what} {ms(time)} ms" for what, time in camera if time is not None))
    return lines


COUNTED = "instructions + idle"
"""What the virtual clock counts by itself: a figure that nothing was charged to."""


def figure_name(what: str) -> str:
    """Return what figures are called in a sentence: `virtual clock` of a clock's name; a price or a count as it is."""
    return f"{what} clock" if what in ("virtual", "wall", "console") else what


def price_words(model: str) -> str:
    """Return what a price under a host model is called."""
    return f"price under {visible(model)}"


def price_sentence(price: PriceRecord | None) -> str:
    """Return what a price is made of, to stand behind the sentence of the clock; empty for boots without one."""
    if price is None:
        return ""
    return (
        f"; {price_words(price.model)}: {price.ns_per_instruction:g} ns an instruction, idle, exits by the rules of "
        f"{visible(price.rules)}, memory in pages of {price.memory}: a model, not speed (docs/price.md)"
    )


def ratio_words(clock: str, price: PriceRecord | None = None) -> str:
    """Return what a ratio of two times on this clock, or of two prices, is a ratio of, as in `2.35x <words>`."""
    if price is not None:
        return f"less {price_words(price.model)}"
    return "fewer instructions + idle" if clock == "virtual" else "shorter"


def ready_times(records: Iterable[BootRecord]) -> list[int]:
    """Return the ns to ready of the boots that were ready, in their order."""
    return [record.ready_ns for record in records if record.ready_ns is not None]


def median_ready_ns(records: Iterable[BootRecord]) -> int | None:
    """Return the median of the times to ready, in ns; None when no boot was ready."""
    times = ready_times(records)
    return median_ns(times) if times else None


def median_boot(records: Sequence[BootRecord]) -> BootRecord:
    """Return the boot that stands for a series: the middle one of those that were ready, else the first."""
    ready = [record for record in records if record.ready_ns is not None]
    ready.sort(key=lambda record: record.ready_ns or 0)
    return ready[(len(ready) - 1) // 2] if ready else records[0]


def flat(facts: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Return nested facts as (dotted key, value) lines for a reader."""
    lines: list[tuple[str, str]] = []
    for key, value in facts.items():
        name = visible(f"{prefix}{key}")
        if isinstance(value, Mapping):
            lines += flat(value, f"{name}.")
        elif isinstance(value, list | tuple):
            lines.append((name, ", ".join(visible(str(item)) for item in value)))
        else:
            lines.append((name, "unknown" if value is None else visible(str(value))))
    return lines
