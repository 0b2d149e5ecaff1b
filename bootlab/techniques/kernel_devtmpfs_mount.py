"""Let the kernel mount /dev."""

from bootlab.system import System
from bootlab.techniques.build_options import option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import line_appears
from bootlab.techniques.technique import Measured, Risk, Source


def _root_on_disk(system: System, measured: Measured) -> str | None:
    return None if system.initramfs is None else "the kernel mounts /dev over a root file system, not over an initramfs"


TECHNIQUE = option_technique(
    name="kernel_devtmpfs_mount",
    options={"DEVTMPFS": "y", "DEVTMPFS_MOUNT": "y"},
    summary="lets the kernel mount /dev over the root file system, before init",
    mechanism=(
        "Init need not make device nodes or mount anything before it can open its console and disks. A "
        "kernel does this for a root file system on a disk only, never for an initramfs."
    ),
    cost="none worth naming: one more mount in the kernel",
    risk=Risk.NONE,
    sources=(Source(NONE_PUBLISHED, "arcboxlabs/arcbox issue 558; no figure"),),
    applies=_root_on_disk,
    shows=line_appears("devtmpfs: mounted"),
)
