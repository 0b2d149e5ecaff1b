"""A kernel without modules: none is built in by accident."""

from pathlib import Path

from bootlab.system import Initramfs, System
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.technique import Layer, Technique

KERNEL = {technique.name: technique for technique in load_catalogue() if technique.change.layer is Layer.KERNEL}
EMPTY = Measured({}, {}, {}, "")


def asked(technique: Technique, system: System, measured: Measured = EMPTY) -> dict[str, str]:
    build = technique.change.apply(system, measured).kernel.build
    assert build is not None
    return build.options


def test_modules_are_not_built_in_by_accident(built: System) -> None:
    found = Measured({}, {}, {}, "", {"MODULES": "y", "EXT4_FS": "m", "SMP": "y"})
    assert asked(KERNEL["kernel_modules_off"], built, found) == {"MODULES": "n", "EXT4_FS": "n"}
    loads = built.model_copy(update={"initramfs": Initramfs(init=Path("init"), modules=("virtio_blk",))})
    assert "initramfs.modules" in (KERNEL["kernel_modules_off"].change.applies(loads, found) or "")
