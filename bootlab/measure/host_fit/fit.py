"""A host of KVM, fitted: the timing guest with each kind of page behind it, its figures, and what to doubt of them."""

import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from bootlab.build.cache import Cache
from bootlab.measure.host.facts import read_host_facts
from bootlab.measure.host_fit.guest import Backing, backings, expect_kvm, qemu_version, time_guest
from bootlab.measure.host_fit.load import CpuTimes, busy_words
from bootlab.measure.host_fit.model_text import model_text
from bootlab.measure.host_fit.result import FittedFigure, HostFit
from bootlab.measure.host_fit.samples import Timed
from bootlab.price.classes import CLASSES, FAULT_2M, FAULT_4K

INSTRUCTIONS: Final = ("table", "branches", "clearing")
"""The parts of `instruction`: a chain of table look-ups, branches that nobody can foresee, a page that is cleared."""
_OUTLIER: Final = 3
_APART: Final = 1.25
"""Medians of two guests that are further apart than this are said to differ."""
_OUTLIERS_MOST: Final = 0.05

TimeGuest = Callable[[Cache, Backing], Timed]


class _Collected(NamedTuple):
    """What all guests timed: name -> ns of each batch, guest by guest."""

    by_guest: Mapping[str, list[tuple[float, ...]]]
    not_timed: dict[str, str]
    memory: Literal["4K", "2M"]


def fit_host(cache: Cache, name: str, tell: Callable[[str], None], run: TimeGuest = time_guest) -> HostFit:
    """Time this host, and return its figures and its model, called `name`.

    Raises MissingTool where KVM does not work here, BootFailed where a guest does not come to its end.
    """
    began_s = time.monotonic()
    tell("asking whether KVM works")
    expect_kvm(cache)
    before, timed = CpuTimes.now(), {}
    for backing in backings():
        tell(f"timing a guest with {backing.value} behind its memory")
        timed[backing] = run(cache, backing)
    cautions = busy_words(before, CpuTimes.now(), os.cpu_count() or 1)
    every = _collect(timed)
    figures = [_figure(name, rows) for name, rows in every.by_guest.items()]
    figures.append(_instruction(figures))
    cautions += _doubts(figures)
    facts = read_host_facts()
    qemu = qemu_version()
    rules = timed[Backing.DEFAULT].rules
    where = f"{facts['cpu_model']}, Linux {facts['kernel']}, QEMU {qemu}"
    text = model_text(name, where, rules, every.memory, {one.name: one for one in figures}, every.not_timed)
    return HostFit(
        name=name, rules=rules, memory=every.memory, figures=tuple(figures), not_timed=every.not_timed,
        cautions=tuple(cautions), host=facts, qemu=qemu, wall_s=round(time.monotonic() - began_s, 3), model=text,
    )  # fmt: skip


def _collect(timed: Mapping[Backing, Timed]) -> _Collected:
    by_guest: dict[str, list[tuple[float, ...]]] = {}
    not_timed: dict[str, str] = {}
    for name in CLASSES:
        rows = [one.ns[name] for one in timed.values() if name in one.ns]
        if name == "hlt":
            rows = [_late(one) for one in timed.values()]
        if rows:
            by_guest[name] = rows
        else:
            not_timed[name] = "the guest got an exception for it"
    by_guest[FAULT_4K] = [timed[Backing.SMALL].ns["pages"]]
    by_guest[f"{FAULT_4K}, memory there"] = [timed[Backing.READY].ns["pages"]]
    small_ns = statistics.median(timed[Backing.SMALL].ns["pages"])
    huge = [one for backing, one in timed.items() if _is_huge(backing, one, small_ns)]
    if huge:
        by_guest[FAULT_2M] = [one.ns["chunks"] for one in huge]
    else:
        not_timed[FAULT_2M] = "no guest got huge pages (/sys/kernel/mm/transparent_hugepage/enabled, vm.nr_hugepages)"
    for name in INSTRUCTIONS:
        by_guest[f"instruction, {name}"] = [one.ns[name] for one in timed.values()]
    by_default = _is_huge(Backing.DEFAULT, timed[Backing.DEFAULT], small_ns)
    return _Collected(by_guest, not_timed, "2M" if by_default else "4K")


def _late(timed: Timed) -> tuple[float, ...]:
    # The timer is set, and its interrupt ended, by a register of the local APIC each.
    registers_ns = 2 * statistics.median(timed.ns["mmio_lapic"]) if "mmio_lapic" in timed.ns else 0.0
    return tuple(max(0.0, one - timed.sleep_ns - registers_ns) for one in timed.ns["sleep"])


def _is_huge(backing: Backing, timed: Timed, small_ns: float) -> bool:
    # Where one page of the host backs a chunk, its other pages do not fault; where memory is there already, none does.
    if backing in (Backing.SMALL, Backing.READY):
        return False
    return statistics.median(timed.ns["rest_of_chunk"]) < small_ns / 2


def _figure(name: str, by_guest: Sequence[Sequence[float]]) -> FittedFigure:
    every = sorted(one for row in by_guest for one in row)
    middle = statistics.median(every)
    low, _, high = statistics.quantiles(every, n=4) if len(every) > 1 else (middle, middle, middle)
    return FittedFigure(
        name=name, ns=round(middle, 4), low_ns=round(low, 4), high_ns=round(high, 4), samples=len(every),
        outliers=sum(one > _OUTLIER * middle for one in every),
        by_guest_ns=tuple(round(statistics.median(row), 4) for row in by_guest),
    )  # fmt: skip


def _instruction(figures: Sequence[FittedFigure]) -> FittedFigure:
    """Return the mean of its parts: of a kernel that does as many of each."""
    parts = [one for one in figures if one.name.startswith("instruction, ")]
    return FittedFigure(
        name="instruction",
        ns=round(statistics.mean(one.ns for one in parts), 4),
        low_ns=min(one.ns for one in parts),
        high_ns=max(one.ns for one in parts),
        samples=sum(one.samples for one in parts),
        outliers=sum(one.outliers for one in parts),
        by_guest_ns=tuple(
            round(statistics.mean(row), 4) for row in zip(*(one.by_guest_ns for one in parts), strict=True)
        ),
    )


def _doubts(figures: Sequence[FittedFigure]) -> list[str]:
    words = []
    for one in figures:
        least, most = min(one.by_guest_ns), max(one.by_guest_ns)
        # Huge pages that were reserved, and those that the host made on the way, are two things.
        if one.name != FAULT_2M and most > _APART * least:
            words.append(f"{one.name}: {least:,.4g} ns by one guest and {most:,.4g} by another")
        if one.outliers > _OUTLIERS_MOST * one.samples:
            words.append(
                f"{one.name}: {one.outliers} of {one.samples} batches took over {_OUTLIER} times the median: "
                "something else ran on its CPU"
            )
    return words
