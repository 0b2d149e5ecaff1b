"""Each format's figures worked out again, by lines that know nothing of our parsers, on inputs of two origins or more.

Totals, the longest entries and the phases must be equal. Where one clock is laid over another, a place may be off by
what the recording itself states. An importer without two such origins fails, so that a new one brings them.
"""

import pytest

from bootlab.importers.registry import IMPORTERS
from bootlab.timeline.recording import Recording
from tests.importers.recomputed import charts, console, firmware, freebsd, others, systemd, vmm
from tests.importers.recomputed.figures import Figures, Origin, figures_of, text_of, uncertainty_ns
from tests.importers.samples import DATA, recording_of

ORIGINS: dict[str, tuple[Origin, ...]] = {
    **charts.ORIGINS, **console.ORIGINS, **firmware.ORIGINS, **freebsd.ORIGINS, **others.ORIGINS, **systemd.ORIGINS,
    **vmm.ORIGINS,
}  # fmt: skip
CASES = [pytest.param(name, one, id=f"{name}-{one.path}") for name, origins in ORIGINS.items() for one in origins]
WITHOUT_PHASES = {
    "bootchart": "samples of processes do not say where the boot is",
    "bootchart-svg": "samples of processes do not say where the boot is",
    "firecracker": "steps of the VMM beside each other, and one length of the guest",
    "firecracker-metrics": "lengths alone",
    "loader-console": "stamps that each loader begins anew",
    "series": "figures of many boots",
    "systemd-dump": "whole seconds of a wall clock that may be set meanwhile",
    "systemd-plot": "systemd leaves them out; systemctl show has them",
}
"""Importers whose files do not cut a boot into parts, and why."""


def read(origin: Origin) -> tuple[Recording, Figures]:
    data = (DATA / origin.path).read_bytes()
    again = origin.again(data.decode("latin-1") if origin.raw else text_of(data))
    return recording_of(data, origin.path, format_name=origin.format), again


@pytest.mark.parametrize("name", [one.name for one in IMPORTERS])
def test_every_importer_is_recomputed_on_two_origins(name: str) -> None:
    origins = ORIGINS.get(name, ())
    assert len({one.made_by for one in origins}) >= 2, f"{name}: recordings of two origins, worked out again, are due"
    assert len({one.path for one in origins}) == len(origins)
    found = [again for _, again in map(read, origins)]
    assert sum(bool(again.top) for again in found) >= 2, f"{name}: no entries to compare"
    if name in WITHOUT_PHASES:
        assert not any(again.phases for again in found)
    else:
        assert sum(bool(again.phases) for again in found) >= 2, f"{name}: no phases to compare"


@pytest.mark.parametrize(("name", "origin"), CASES)
def test_totals_top_entries_and_phases_are_what_another_way_of_counting_gives(name: str, origin: Origin) -> None:
    one, again = read(origin)
    ours = figures_of(one, origin.laid_over)
    assert one.format == name
    assert again.totals["spans"] + again.totals["moments"] + again.totals["lengths"] + again.totals["values"] > 0
    assert ours.totals == again.totals
    if origin.laid_over:
        assert [phase for phase, _, _ in ours.phases] == [phase for phase, _, _ in again.phases]
        stated = uncertainty_ns(one)
        for (_, *mine), (_, *theirs) in zip(ours.phases, again.phases, strict=True):
            for at, other in zip(mine, theirs, strict=True):
                assert other - again.earlier_ns - stated <= at <= other + stated
        if again.totals["spans"] + again.totals["lengths"]:
            assert ours.top == again.top
    else:
        assert ours.top == again.top
        assert ours.phases == again.phases
