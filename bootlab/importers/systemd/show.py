"""`systemctl show` of the manager -> Recording: the stamps that `systemd-analyze plot --json` leaves out.

Firmware and loader are microseconds before the kernel's start, everything else after it; 0 is a part that was not.
"""

import re
from typing import Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import Head, Source
from bootlab.importers.systemd.units import ABOUT_MONOTONIC, MONOTONIC, phases_of
from bootlab.timeline.event import Span
from bootlab.timeline.recording import Recording
from bootlab.timeline.timeline import Timeline

_STAMP = re.compile(r"(?P<name>\w+)TimestampMonotonic=(?P<us>\d{1,20})")
_VERSION = re.compile(r"Version=(.*)")
_PROPERTY = re.compile(r"\w{1,80}=")
_NEVER: Final = 1 << 63
_OWN: Final = (("Security", "security"), ("Generators", "generators"), ("UnitsLoad", "units load"))


def recognise(head: Head) -> str:
    """Return the manager's own stamp of user space, where it is among the first lines."""
    return next((row for row in head.rows if row.startswith("UserspaceTimestampMonotonic=")), "")


def read(source: Source, options: Options) -> Recording:
    """Return the phases and what the manager did itself. Raises FormatError without the stamp of user space."""
    stamps: dict[str, int] = {}
    version = ""
    for _, row in source.rows():
        if (found := _STAMP.fullmatch(row.strip())) is not None and int(found["us"]) < _NEVER:
            stamps[found["name"]] = int(found["us"]) * 1000
            source.tally.used("stamps of the manager")
        elif (found := _VERSION.fullmatch(row)) is not None:
            version = found[1][:80]
            source.tally.used("systemd's version")
        elif _PROPERTY.match(row):
            source.tally.aside("other properties")
    if not stamps.get("Userspace"):
        raise source.expected("UserspaceTimestampMonotonic=, as `systemctl show` prints it")
    notes = () if stamps.get("Finish") else ("The boot had not finished when this was written.",)
    return Recording(
        format=IMPORTER.name,
        tool=f"systemctl show, systemd {version}".removesuffix(", systemd "),
        timeline=Timeline.of(MONOTONIC, [], _own_work(stamps)),
        about_clock=ABOUT_MONOTONIC,
        phases=phases_of(_parts(stamps)),
        notes=notes,
    )


def _parts(stamps: dict[str, int]) -> dict[str, int]:
    parts = {}
    if firmware_ns := stamps.get("Firmware"):
        # Both count backwards: firmware began so long before the kernel, the loader so long.
        parts["firmware"] = firmware_ns - stamps.get("Loader", 0)
    if loader_ns := stamps.get("Loader"):
        parts["loader"] = loader_ns
    initrd_ns, userspace_ns = stamps.get("InitRD", 0), stamps["Userspace"]
    parts["kernel"] = initrd_ns or userspace_ns
    if initrd_ns:
        parts["initrd"] = userspace_ns - initrd_ns
    if finish_ns := stamps.get("Finish"):
        parts["userspace"] = finish_ns - userspace_ns
    return {name: took_ns for name, took_ns in parts.items() if took_ns >= 0}


def _own_work(stamps: dict[str, int]) -> list[Span]:
    spans = []
    for before, where in (("", ""), ("InitRD", "initrd: ")):
        for key, name in _OWN:
            start_ns, end_ns = stamps.get(f"{before}{key}Start", 0), stamps.get(f"{before}{key}Finish", 0)
            if 0 < start_ns <= end_ns:
                spans.append(Span(start_ns, end_ns, "manager", where + name))
    return spans


IMPORTER: Final = Importer("systemd-show", "systemctl show (the manager's own stamps)", recognise, read)
