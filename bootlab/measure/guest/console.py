"""What the guest says about itself on its console: marks, facts and the result of its check.

    bootlab: mark NAME
    bootlab: fact KEY VALUE...
    bootlab: check ok | bootlab: check failed: REASON

The protocol is documented in guest/README.md; any init script can speak it with echo. The kernel writes to a serial
line past the terminal, so its own line may stand in the middle of one of these; that one is put together again.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from bootlab.system import Booted, Check
from bootlab.timeline.marks import KERNEL_LINES, OWN, READY

_MARK = re.compile(r"bootlab: mark (\S+)")
_FACT = re.compile(r"bootlab: fact (\S+) ?(.*)")
_STAMP = r"\[ *\d+\.\d{6}\] "
_KERNEL_LINE = re.compile(_STAMP)
_CUT = re.compile(rf"(.+?)({_STAMP}.*)", re.S)
_BEGINNINGS = ("bootlab: mark ", "bootlab: check ok", "bootlab: check failed: ")
_PANIC = re.compile(r"Kernel panic - not syncing: ?(.*)")
# systemd's [FAILED] is in colours, which nobody sees who reads it on a terminal and asks for it.
_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
# U-Boot's and SPL's last words (lib/hang.c): nothing but a reset gets either out of it. What UEFI says when it has gone
# through its boot options in vain (edk2, BdsDxe): it waits for a key then.
_GAVE_UP = ("### ERROR ### Please RESET the board ###", "BdsDxe: No bootable option or device was found")


@dataclass(slots=True)
class GuestConsole:
    """Follows console lines; times are ns since power-on on the clock that stamped the lines."""

    booted: Booted
    check: Check | None
    named: Mapping[str, str] = field(default_factory=dict)
    """Further marks, each with the pattern of its line."""
    traced: bool = False
    """A trace has the guest's marks, so that of its check is not taken from the console, which may be ahead of it.

    Nor need the console know that the system is ready.
    """
    marks: dict[str, int] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    panic: str | None = None
    """What the kernel panicked of, unless all that was asked for was known by then: PID 1 may end as it likes."""
    gave_up: bool = False
    """The bootloader has stopped for good."""
    check_passed: bool | None = None
    """None while unknown. True means the guest's own part; a TCP answer may still be owed."""
    check_detail: str = ""
    last_line: str = ""
    last_line_ns: int = 0
    ready: bool = False
    _begun: tuple[int, str] | None = None
    """A line of the guest's that the kernel has written into: when it came, and what came of it before that."""

    @property
    def failed_early(self) -> bool:
        """Return whether its check has failed before it was ready."""
        return self.check_passed is False and not self.ready

    @property
    def has_said_check_mark(self) -> bool:
        """Return whether the line of its check's mark came since it was ready; before, it proves nothing.

        A script that has no bootlab-mark says it by its line alone.
        """
        mark = self.check.mark if self.check is not None else None
        return mark is not None and self.marks.get(mark, -1) >= self.marks.get(READY, 0)

    @property
    def _is_settled(self) -> bool:
        return self.ready and (self.check is None or self.check_passed is not None)

    def take(self, t_ns: int, line: str) -> None:
        """Account for one console line whose first byte came at `t_ns`."""
        for begun_ns, text in self._whole(t_ns, line):
            self._take(begun_ns, text)

    def _whole(self, t_ns: int, line: str) -> Iterator[tuple[int, str]]:
        """Yield what the line says: of one that the kernel wrote into, its words, and ours once the rest has come."""
        if self._begun is not None and _KERNEL_LINE.match(line) is None:
            (begun_ns, begun), self._begun = self._begun, None
            if line.startswith("bootlab: "):
                yield begun_ns, begun
            else:
                t_ns, line = begun_ns, begun + line
        if (cut := _CUT.fullmatch(line)) is not None and _is_cut(cut[1]):
            self._begun, line = (t_ns, cut[1]), cut[2]
        yield t_ns, line

    def _take(self, t_ns: int, line: str) -> None:
        if line.strip():
            self.last_line, self.last_line_ns = line, t_ns
        if (found := _MARK.search(line)) is not None and found.group(1) not in OWN:
            self.marks.setdefault(found.group(1), t_ns)
        elif (found := _FACT.search(line)) is not None:
            self.facts[found.group(1)] = found.group(2).strip()
        elif (found := _PANIC.search(line)) is not None:
            if not self._is_settled:
                self.panic = self.panic or found.group(1) or "no reason given"
        elif any(words in line for words in _GAVE_UP):
            self.gave_up = True
        for pattern, name in KERNEL_LINES:
            if pattern.search(line) is not None:
                self.marks.setdefault(name, t_ns)
        for name, text in self.named.items():
            if name not in self.marks and re.search(text, line) is not None:
                self.marks[name] = t_ns
        self._follow_ready(t_ns, line)
        self._follow_check(line)

    def reach(self, name: str, t_ns: int) -> None:
        """Account for a mark that the target knows the time of, and no console line says."""
        self.marks.setdefault(name, t_ns)
        self._follow_ready(t_ns, "")

    def pass_over(self, t_ns: int, line: str) -> None:
        """Remember a line that does not count, since time 0 is still to come; only its words may be told."""
        if line.strip():
            self.last_line, self.last_line_ns = line, t_ns

    def prompt(self, t_ns: int, text: str) -> bool:
        """Look at a line that is not complete yet; returns whether it is what `booted.console` waits for.

        A prompt stands: it passes a check that waits for it, also where it was there before the system was ready.
        """
        if self.ready and self.check is not None and self.check.console is not None and self.check_passed is None:
            self.check_passed = self._passes(self.check, text) or None
        if self.booted.console is None or self.ready:
            return False
        self._follow_ready(t_ns, text)
        if self.ready:
            self.last_line, self.last_line_ns = text, t_ns
        return self.ready

    def look_back(self) -> None:
        """See, once the system is ready, whether what its check waits for is a fact that was told before.

        A fact stands, as a prompt does: a boot that learns may have told all of it by then. A pattern that names no
        fact waits for something that the system does once it is ready.
        """
        if self.check is None or self.check.console is None or self.check_passed is not None:
            return
        if "fact " not in self.check.console:
            return
        pattern = re.compile(self.check.console)
        if any(pattern.search(f"bootlab: fact {key} {value}") for key, value in self.facts.items()):
            self.check_passed = True

    def _follow_ready(self, t_ns: int, line: str) -> None:
        if self.ready:
            return
        if self.booted.console is not None:
            self.ready = _says(self.booted.console, line)
            if self.ready:
                self.marks[READY] = t_ns
        elif self.booted.mark in self.marks:
            self.ready = True
            self.marks.setdefault(READY, self.marks[self.booted.mark])

    def _follow_check(self, line: str) -> None:
        if self.check is None or self.check_passed is not None:
            return
        # It may fail before the system is ready, and then it never will be; it cannot pass before.
        if _says(self.check.fail, line):
            self.check_passed, self.check_detail = False, line.strip()
        elif not self.ready and self.check.mark in self.marks and not self.traced:
            self.check_passed, self.check_detail = False, early_check(self.check)
        elif self.ready and self._passes(self.check, line):
            self.check_passed = True

    def _passes(self, check: Check, line: str) -> bool:
        if check.console is None:
            return check.mark in self.marks and not self.traced
        return _says(check.console, line)


def _says(pattern: str, line: str) -> bool:
    """Return whether a line is what was asked for, as it came or without its colours."""
    return any(re.search(pattern, text) is not None for text in (line, _COLOUR.sub("", line)))


def _is_cut(text: str) -> bool:
    # Only what decides a boot: a fact may hold a line of the kernel's, as dmesg.* do.
    return re.fullmatch(r"bootlab: mark \S*", text) is not None or any(one.startswith(text) for one in _BEGINNINGS)


def early_check(check: Check) -> str:
    """Return what is wrong with the mark of a check that was made before the system was ready."""
    return f"mark {check.mark}, which proves nothing before"
