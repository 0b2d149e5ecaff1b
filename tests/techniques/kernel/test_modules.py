"""A kernel without modules: none is built in by accident."""

from pathlib import Path

from bootlab.system import Initramfs, System
from bootlab.techniques.model.evidence import Measured
from tests.techniques.asking import KERNEL, asked


def test_modules_are_not_built_in_by_accident(built: System) -> None:
    found = Measured({}, {}, {}, "", {"MODULES": "y", "EXT4_FS": "m", "SMP": "y"})
    assert asked(KERNEL["kernel_modules_off"], built, found) == {"MODULES": "n", "EXT4_FS": "n"}
    # SCSI_MOD has no prompt, and is on wherever SCSI is no module.
    scsi = Measured({}, {}, {}, "", {"MODULES": "y", "SCSI": "m", "SCSI_MOD": "m"})
    assert asked(KERNEL["kernel_modules_off"], built, scsi) == {"MODULES": "n", "SCSI": "n"}
    loads = built.model_copy(update={"initramfs": Initramfs(init=Path("init"), modules=("virtio_blk",))})
    assert "initramfs.modules" in (KERNEL["kernel_modules_off"].change.applies(loads, found) or "")
