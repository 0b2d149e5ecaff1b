"""Proofs from what boots show: the kernel's log, facts that the guest read, watched functions, initcalls, the image.

The first line of each function says what the boots must show. A proof that looks at kernel functions asks for them to
be watched.
"""

import itertools
import re
from collections.abc import Callable, Container, Mapping

from bootlab.build.source.renamed_options import earlier_names, find_new_name
from bootlab.techniques.model.evidence import Effect, Evidence, Proof

WATCH_PREFIX = "watch:"
_STAMP = re.compile(r"^(?:<\d+>)?\[\s*\d+\.\d+\](?:\[[ \d A-Z]+\])? ?")
_STAMP_US = re.compile(r"\[\s*(\d+)\.(\d{6})\]")
_FIRST_LINE = "Linux version "
_NUMBERS = {"0": "n", "1": "y"}


def kernel_log(facts: Mapping[str, str], console: str) -> list[str]:
    """Return the kernel's messages without their stamps: the guest's own dmesg, else what reached the console."""
    return [_STAMP.sub("", line) for line in _stamped_log(facts, console)]


def find_line(facts: Mapping[str, str], console: str, pattern: str) -> re.Match[str] | None:
    """Return the first match of a regular expression in the kernel's messages; None when none matches."""
    return next((found for line in kernel_log(facts, console) if (found := re.search(pattern, line))), None)


def log_says(facts: Mapping[str, str], console: str, pattern: str) -> bool | None:
    """Return whether the kernel said so; None when it is not there and the log does not begin at its beginning."""
    if find_line(facts, console, pattern) is not None:
        return True
    return False if find_line(facts, console, _FIRST_LINE) is not None else None


def line_appears(pattern: str) -> Proof:
    """The kernel says so: a message that was not there before."""

    def prove(after: Evidence, before: Evidence) -> Effect:
        if _says(after, pattern):
            return Effect.NOT_SHOWN if _says(before, pattern) else Effect.PROVEN
        return Effect.NONE if _whole(after) else Effect.NOT_SHOWN

    return Proof(prove)


def line_vanishes(pattern: str) -> Proof:
    """The kernel no longer says what it said before."""

    def prove(after: Evidence, before: Evidence) -> Effect:
        if _says(after, pattern):
            return Effect.NONE
        return Effect.PROVEN if _says(before, pattern) and _whole(after) else Effect.NOT_SHOWN

    return Proof(prove)


def line_changes(pattern: str) -> Proof:
    """A message whose first group is a value: the value is another one than before."""

    def prove(after: Evidence, before: Evidence) -> Effect:
        new, old = (find_line(side.facts, side.console, pattern) for side in (after, before))
        if new is None or old is None:
            return Effect.NOT_SHOWN
        return Effect.PROVEN if new.group(1) != old.group(1) else Effect.NONE

    return Proof(prove)


def pause_shrinks(pattern: str) -> Proof:
    """The kernel's own stamps: the time from this message to the next is a small part of what it was."""

    def prove(after: Evidence, before: Evidence) -> Effect:
        return _becomes_small_part(*(_pause_us(side, pattern) for side in (after, before)))

    return Proof(prove)


def gap_shrinks(first: str, last: str) -> Proof:
    """The kernel's own stamps: the time from one message to another behind it is a small part of what it was."""

    def prove(after: Evidence, before: Evidence) -> Effect:
        return _becomes_small_part(*(_gap_us(side, first, last) for side in (after, before)))

    return Proof(prove)


def line_comes_earlier(pattern: str) -> Proof:
    """The kernel says so at an earlier time than before, by its own stamps."""

    def prove(after: Evidence, before: Evidence) -> Effect:
        new, old = (_said_us(side, pattern) for side in (after, before))
        if new is None or old is None:
            return Effect.NOT_SHOWN
        return Effect.PROVEN if new < old else Effect.NONE

    return Proof(prove)


def console_falls_silent() -> Proof:
    """The kernel writes at most a quarter of the stamped lines to the console that it wrote before."""
    return Proof(_console_falls_silent)


def _console_falls_silent(after: Evidence, before: Evidence) -> Effect:
    # What the guest prints of its log as facts begins with its own word, and is not counted.
    new, old = (len(_stamped_lines(side.console)) for side in (after, before))
    if not old or not after.console:
        return Effect.NOT_SHOWN
    if new * 4 <= old:
        return Effect.PROVEN
    return Effect.NONE if new >= old else Effect.NOT_SHOWN


def exits_fall(name: str) -> Proof:
    """Under a host model: exits of a class of KVM, or faults, are at most half of what they were."""

    def prove(after: Evidence, before: Evidence) -> Effect:
        if not after.exits or not before.exits.get(name):
            return Effect.NOT_SHOWN
        return Effect.PROVEN if 2 * after.exits.get(name, 0) <= before.exits[name] else Effect.NONE

    return Proof(prove)


def never_runs(*symbols: str) -> Proof:
    """Watched functions, of the kernel or of SPL (`SPL:FUNCTION`), that ran before no longer run."""

    def prove(after: Evidence, before: Evidence) -> Effect:
        marks = [WATCH_PREFIX + symbol for symbol in symbols]
        if any(mark in after.marks for mark in marks):
            return Effect.NONE
        return Effect.PROVEN if any(mark in before.marks for mark in marks) else Effect.NOT_SHOWN

    return Proof(prove, watch=symbols)


def now_runs(symbol: str) -> Proof:
    """A watched kernel function runs that did not run before."""
    mark = WATCH_PREFIX + symbol

    def prove(after: Evidence, before: Evidence) -> Effect:
        if mark in after.marks:
            return Effect.NOT_SHOWN if mark in before.marks else Effect.PROVEN
        # A watched function that is nowhere may be missing from this kernel, or the clock sees no functions.
        return Effect.NOT_SHOWN

    return Proof(prove, watch=(symbol,))


def fact_is(key: str, wanted: str) -> Proof:
    """A fact the guest reads from its running kernel matches a regular expression that it did not match before."""

    def prove(after: Evidence, before: Evidence) -> Effect:
        if key not in after.facts:
            return Effect.NOT_SHOWN
        if not re.search(wanted, after.facts[key]):
            return Effect.NONE
        if re.search(wanted, before.facts.get(key, "")):
            return Effect.NOT_SHOWN
        return Effect.PROVEN

    return Proof(prove)


def more_is_vulnerable() -> Proof:
    """The kernel says of more of the CPU's vulnerabilities that it does nothing against them."""
    return Proof(_more_is_vulnerable)


def _more_is_vulnerable(after: Evidence, before: Evidence) -> Effect:
    # /sys/devices/system/cpu/vulnerabilities is what the kernel did, not what it was told.
    new, old = (_vulnerable(side) for side in (after, before))
    if new is None or old is None:
        return Effect.NOT_SHOWN
    return Effect.PROVEN if new > old else Effect.NONE


def _vulnerable(evidence: Evidence) -> int | None:
    states = [value for key, value in evidence.facts.items() if key.startswith("vulnerabilities.")]
    return sum("Vulnerable" in state for state in states) if states else None


def modules_refused() -> Proof:
    """The modules that the kernel's own command line refuses were loaded before, and are not."""
    return Proof(_modules_refused)


def _modules_refused(after: Evidence, before: Evidence) -> Effect:
    word = re.search(r"\bmodule_blacklist=(\S+)", after.facts.get("cmdline", ""))
    if word is None or "modules" not in after.facts:
        return Effect.NOT_SHOWN
    refused = set(word[1].split(","))
    if refused & set(after.facts["modules"].split()):
        return Effect.NONE
    return Effect.PROVEN if refused & set(before.facts.get("modules", "").split()) else Effect.NOT_SHOWN


def fact_changes(key: str) -> Proof:
    """A fact the guest reads from its running kernel is another one than before."""

    def prove(after: Evidence, before: Evidence) -> Effect:
        if key not in after.facts or key not in before.facts:
            return Effect.NOT_SHOWN
        return Effect.PROVEN if after.facts[key] != before.facts[key] else Effect.NONE

    return Proof(prove)


def fact_falls(key: str, *, to_percent: int = 100) -> Proof:
    """A number the guest reads from its running kernel is smaller than before, or at most so many percent of it."""
    return _fact_moves(key, lambda after, before: after < before and after * 100 <= before * to_percent)


def fact_rises(key: str) -> Proof:
    """A number the guest reads from its running kernel is larger than before."""
    return _fact_moves(key, lambda after, before: after > before)


def initcalls_gone(*names: str) -> Proof:
    """Initcalls that ran before are not in the kernel any more."""

    def prove(after: Evidence, before: Evidence) -> Effect:
        if any(name in after.initcalls_ns for name in names):
            return Effect.NONE
        gone = after.initcalls_ns and any(name in before.initcalls_ns for name in names)
        return Effect.PROVEN if gone else Effect.NOT_SHOWN

    return Proof(prove)


def configured(options: Mapping[str, str], shows: Proof | None = None) -> Proof:
    """The image that booted was built with these options, and the one before was not; `n` is off.

    `shows` is what the boot itself shows: when it contradicts, the options did nothing, whatever they say.
    """

    def prove(after: Evidence, before: Evidence) -> Effect:
        seen = shows.prove(after, before) if shows is not None else Effect.NOT_SHOWN
        names = {*after.kernel_config, *before.kernel_config}
        built, was = (_built_with(side, options, names) for side in (after, before))
        if built is False or seen is Effect.NONE:
            return Effect.NONE
        return Effect.PROVEN if seen is Effect.PROVEN or (built and was is False) else Effect.NOT_SHOWN

    return Proof(prove, watch=shows.watch if shows is not None else ())


def archive_shrinks() -> Proof:
    """The kernel was handed a smaller initramfs than before: it prints where the archive lies, or how much it freed."""
    return Proof(_archive_shrinks)


def _archive_shrinks(after: Evidence, before: Evidence) -> Effect:
    for size_of in (_place_of_archive, _freed_archive):
        new, old = (size_of(side) for side in (after, before))
        if new is not None and old is not None:
            return Effect.PROVEN if new < old else Effect.NONE
    return Effect.NOT_SHOWN


def any_of(*proofs: Proof) -> Proof:
    """The first of several proofs that shows something: one may lack its evidence on this kernel or clock."""

    def prove(after: Evidence, before: Evidence) -> Effect:
        shown = (one.prove(after, before) for one in proofs)
        return next((effect for effect in shown if effect is not Effect.NOT_SHOWN), Effect.NOT_SHOWN)

    return Proof(prove, watch=tuple(dict.fromkeys(symbol for one in proofs for symbol in one.watch)))


def if_shown(proof: Proof) -> Proof:
    """The same proof where its missing shows nothing: it speaks for the knob, and never against it."""

    def prove(after: Evidence, before: Evidence) -> Effect:
        found = proof.prove(after, before)
        return Effect.NOT_SHOWN if found is Effect.NONE else found

    return Proof(prove, watch=proof.watch)


def _built_with(evidence: Evidence, options: Mapping[str, str], names: Container[str]) -> bool | None:
    config = evidence.kernel_config
    return all(_has(config, option, value, names) for option, value in options.items()) if config else None


def _has(config: Mapping[str, str], option: str, value: str, names: Container[str]) -> bool:
    # A later kernel may know it by a new name, which only one of the two has where it was turned off.
    if (newer := find_new_name(option, names)) is not None:
        return config.get(newer.new, "n") == newer.renamed_value(value)
    # Older kernels have other names for some, and BASE_SMALL was a number there (until 6.10).
    earlier = earlier_names(option)
    if (older := next((one for one in earlier if one.old in config), None)) is not None:
        return config[older.old] == older.renamed_value(value)
    got = config.get(option, "n")
    return (_NUMBERS.get(got, got) if earlier else got) == value


def _stamped_log(facts: Mapping[str, str], console: str) -> list[str]:
    numbered = sorted(
        (int(key.removeprefix("dmesg.")), value) for key, value in facts.items() if re.fullmatch(r"dmesg\.\d+", key)
    )
    if numbered:
        return [value for _, value in numbered]
    return _stamped_lines(console)


def _stamped_lines(console: str) -> list[str]:
    return [line.strip() for line in console.splitlines() if _STAMP.match(line.strip())]


def _said_us(evidence: Evidence, pattern: str) -> int | None:
    line = next((one for one in _stamped_log(evidence.facts, evidence.console) if re.search(pattern, one)), None)
    stamp = re.search(_STAMP_US, line) if line is not None else None
    return int(stamp.group(1) + stamp.group(2)) if stamp is not None else None


def _pause_us(evidence: Evidence, pattern: str) -> int | None:
    log = _stamped_log(evidence.facts, evidence.console)
    pairs = itertools.pairwise(log)
    return next((_between_us(line, following) for line, following in pairs if re.search(pattern, line)), None)


def _gap_us(evidence: Evidence, first: str, last: str) -> int | None:
    log = _stamped_log(evidence.facts, evidence.console)
    begin = next((number for number, line in enumerate(log) if re.search(first, line)), None)
    if begin is None:
        return None
    return next((_between_us(log[begin], line) for line in log[begin + 1 :] if re.search(last, line)), None)


def _between_us(line: str, later: str) -> int | None:
    start, end = (re.search(_STAMP_US, one) for one in (line, later))
    if start is None or end is None:
        return None
    first, last = (int(stamp.group(1) + stamp.group(2)) for stamp in (start, end))
    return last - first


def _becomes_small_part(new: int | None, old: int | None) -> Effect:
    if new is None or old is None:
        return Effect.NOT_SHOWN
    if new * 4 <= old:
        return Effect.PROVEN
    return Effect.NONE if new * 2 > old else Effect.NOT_SHOWN


def _fact_moves(key: str, moved: Callable[[int, int], bool]) -> Proof:
    def prove(after: Evidence, before: Evidence) -> Effect:
        new, old = (_number(side.facts.get(key)) for side in (after, before))
        if new is None or old is None:
            return Effect.NOT_SHOWN
        return Effect.PROVEN if moved(new, old) else Effect.NONE

    return Proof(prove)


def _place_of_archive(evidence: Evidence) -> int | None:
    found = find_line(evidence.facts, evidence.console, r"RAMDISK: \[mem 0x([0-9a-f]+)-0x([0-9a-f]+)\]")
    return int(found.group(2), 16) - int(found.group(1), 16) if found is not None else None


def _freed_archive(evidence: Evidence) -> int | None:
    # Rounded to pages, so it is not compared with the other.
    found = find_line(evidence.facts, evidence.console, r"Freeing initrd memory: (\d+)K")
    return int(found.group(1)) if found is not None else None


def _number(text: str | None) -> int | None:
    found = re.match(r"\s*(\d+)", text or "")
    return int(found.group(1)) if found else None


def _says(evidence: Evidence, pattern: str) -> bool:
    return find_line(evidence.facts, evidence.console, pattern) is not None


def _whole(evidence: Evidence) -> bool:
    # Silence is evidence only in a log that begins at the beginning; `quiet` consoles and wrapped buffers do not.
    return _says(evidence, _FIRST_LINE)
