"""Figures of one stretch of a profiled boot, a standard phase or a timing of the system's own, as its profile has them.

And of one program of it: when a process first executed it, and what that process did until it ended.

"While it reads" is where a block request was under way: what the CPU did then is that time without its idle part.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from bootlab.report.parts.figures import count, ms, percent

Stretch = Mapping[str, Any]
"""A phase of `activity` in the document of a profile (docs/formats.md)."""
Program = Mapping[str, Any]
"""A process of the same document, with `began_ns`, when it executed what it is asked about."""


def require_stretch(document: Mapping[str, Any], name: str) -> Stretch:
    """Return the phase or timing of a profile's document that has the name. Raises ValueError where there is none."""
    there = [*document["activity"]["phases"], *document["activity"]["timings"]]
    for one in there:
        if one["name"] == name:
            return dict(one)
    raise ValueError(f"{name}: no such phase or timing; there are: {', '.join(one['name'] for one in there)}")


def require_program(document: Mapping[str, Any], path: str) -> Program:
    """Return the process that executed a program first. Raises ValueError where none did."""
    found = [
        (at_ns, one) for one in document["processes"]["processes"] for at_ns, name in one["programs"] if name == path
    ]
    if not found:
        raise ValueError(f"{path}: no process of the profile executed it")
    at_ns, process = min(found, key=lambda one: one[0])
    return {**process, "began_ns": at_ns}


def stretch_figure(kind: str, stretch: Stretch, names: Sequence[str]) -> str:
    """Return the figure that is called `kind`; empty where the stretch has none. Raises ValueError for other names."""
    if kind == HANDLED:
        if len(names) != 1:
            raise ValueError(f"{kind} {', '.join(names)}: of one interrupt handler")
        return _handled(stretch, names[0])
    if names:
        raise ValueError(f"{kind} {', '.join(names)}: no such figure of a stretch")
    return STRETCH_FIGURES[kind](stretch)


def functions_ns(document: Mapping[str, Any], names: Sequence[str]) -> int | None:
    """Return what functions took up to ready with all that they called; None where the profile has none of them.

    Those that call each other are to be named once: they would be counted twice.
    """
    found = [one["total_elapsed_ns"] for one in document["functions"] if one["name"] in names]
    return sum(found) if found else None


def _of_requests(stretch: Stretch, what: str) -> int:
    return sum(one[what] for one in stretch["devices"])


def _a_second(number: float, stretch: Stretch) -> float | None:
    return number * 1e9 / stretch["io_ns"] if stretch["io_ns"] else None


def _handled(stretch: Stretch, handler: str) -> str:
    # One of a module has the module's name behind it.
    found = [one["count"] for one in stretch["handlers"] if one["name"].partition(" [")[0] == handler]
    rate = _a_second(sum(found), stretch)
    return count(round(rate)) if found and rate is not None else ""


def _mb_a_second(stretch: Stretch) -> str:
    rate = _a_second(_of_requests(stretch, "bytes"), stretch)
    return "" if rate is None else f"{rate / 1e6:.1f}"


def _cpu_ns(stretch: Stretch) -> int:
    return int(stretch["io_ns"] - stretch["idle_io_ns"])


def _a_request_us(stretch: Stretch) -> str:
    requests = _of_requests(stretch, "requests")
    return f"{_cpu_ns(stretch) / 1000 / requests:.1f}" if requests else ""


HANDLED: Final = "stretch-handled-s"
"""How often a handler of interrupts ran in a second while it read, by the handler's name."""
STRETCH_FIGURES: Final[Mapping[str, Callable[[Stretch], str]]] = {
    "stretch": lambda one: ms(one["end_ns"] - one["start_ns"]),
    "stretch-bound": lambda one: str(one["bound"]),
    "stretch-idle": lambda one: ms(one["idle_ns"]),
    "stretch-io": lambda one: ms(one["io_ns"]),
    "stretch-requests": lambda one: count(_of_requests(one, "requests")),
    "stretch-mb-s": _mb_a_second,
    "stretch-io-cpu": lambda one: percent(_cpu_ns(one), one["io_ns"]) if one["io_ns"] else "",
    "stretch-request-cpu": _a_request_us,
}
PROGRAM_FIGURES: Final[Mapping[str, Callable[[Program], str]]] = {
    "program-began": lambda one: ms(one["began_ns"]),
    "program-ended": lambda one: ms(one["exited_ns"]),
    "program-ran": lambda one: ms(one["running_ns"]),
    "program-io": lambda one: ms(one["io_ns"]),
}
