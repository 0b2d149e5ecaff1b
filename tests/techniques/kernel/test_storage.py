"""Where files come from: an initramfs keeps what unpacks it."""

from pathlib import Path

from bootlab.system import Compression, Initramfs, System
from tests.techniques.asking import KERNEL, NOTHING


def test_an_initramfs_keeps_what_unpacks_it(built: System) -> None:
    holds = built.model_copy(update={"initramfs": Initramfs(init=Path("init"), compression=Compression.NONE)})
    assert KERNEL["kernel_initrd_off"].change.applies(holds, NOTHING) == "the system has an initramfs"
    assert "not over an initramfs" in (KERNEL["kernel_devtmpfs_mount"].change.applies(holds, NOTHING) or "")
