"""The car's head unit on arm64: two boots alike to the pixel, and the plan's steps in one boot, each proved."""

from pathlib import Path

import pytest
from PIL import Image

from bootlab.build.workshop import Workshop
from bootlab.experiments.trial.plan import require_plan
from bootlab.findings.technique_evidence import evidence_of, measured_of
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord
from bootlab.sources import EXAMPLES
from bootlab.system import System, read_system
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Effect

pytestmark = [pytest.mark.boot, pytest.mark.network]

ORDER = ["init_exec", "opening", "system_up", "services_up", "home"]
"""What is seen and said of a start, in its order; the picture may come earlier."""
LEARNS = "rootfs_readahead"


def boot_once(system: System, shop: Workshop, folder: Path) -> BootRecord:
    folder.mkdir()
    record = boot(prepare(shop, system), folder)
    assert record.outcome.value == "ready" and record.screen is not None, record.detail
    return record


def colours(record: BootRecord, mark: str) -> int:
    assert record.screen is not None
    picture = next(Path(record.run) / one.file for one in record.screen.pictures if one.mark == mark)
    with Image.open(picture) as image:
        assert image.size == (800, 480)
        return len(image.convert("RGB").getcolors(1 << 20) or [])


def test_two_boots_are_alike_to_the_pixel_and_in_each_phase(shop: Workshop, tmp_path: Path) -> None:
    system = read_system(EXAMPLES / "ivi.toml")
    first, second = (boot_once(system, shop, tmp_path / name) for name in "ab")
    assert sorted(ORDER, key=first.marks.__getitem__) == ORDER
    assert first.marks == second.marks and first.instructions == second.instructions
    assert first.screen is not None and second.screen is not None
    assert first.screen.frames_up_to == second.screen.frames_up_to
    assert all(first.timings_ns.values()), first.timings_ns
    assert colours(first, "opening") > 16 and colours(first, "home") > 16


def test_the_plans_steps_each_take_effect_and_the_picture_comes_first(shop: Workshop, tmp_path: Path) -> None:
    system = read_system(EXAMPLES / "ivi.toml")
    known = {one.name: one for one in load_catalogue()}
    steps = [known[name] for name in require_plan("ivi-2012").techniques or () if name != LEARNS]
    before = boot_once(system, shop, tmp_path / "before")
    for one in steps:
        assert one.change.applies(system, measured_of(before)) is None, one.name
        system = one.change.apply(system, measured_of(before))
    # Out of RAM there is nothing that could be read ahead.
    reason = known[LEARNS].change.applies(system, measured_of(before))
    assert reason is not None and "waits for no disk" in reason
    after = boot_once(system, shop, tmp_path / "after")
    unproved = [
        one.name
        for one in steps
        if not one.proof.watch and one.proof.prove(evidence_of(after), evidence_of(before)) is not Effect.PROVEN
    ]
    assert unproved == []
    assert after.power_on is not None and after.power_on.refused is None
    assert (after.power_on.kind, after.power_on.source) == ("self-refresh", "kept-ram")
    # What the start before has written is there again.
    assert after.power_on.changes_taken == 1 and after.power_on.changes_refused is None
    assert 2 * after.marks["opening"] < before.marks["opening"] and after.marks["home"] < before.marks["home"]
