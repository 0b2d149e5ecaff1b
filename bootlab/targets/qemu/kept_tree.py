"""The device tree of a machine that is told by it of RAM that outlives the power: QEMU's own, and a node more.

QEMU makes it anew for each boot, with what the boot's seed draws for the kernel (/chosen), so this is one of that boot.
"""

from pathlib import Path
from typing import Final

from bootlab.process import run
from bootlab.system import System
from bootlab.targets.qemu.argv import bare_argv, escaped

_PACKAGE: Final = "device-tree-compiler"


def make_kept_tree(system: System, folder: Path) -> Path | None:
    """Return the device tree of a boot of `system`, made in `folder`; None for a machine that is told otherwise, or of
    nothing.

    Raises MissingTool (QEMU, fdtput), ProgramFailed.
    """
    root = system.rootfs
    if root is None or root.kept_ram is None or not system.memory_at:
        return None
    kept, path = root.kept_ram, folder / "machine.dtb"
    run([*bare_argv(system), "-machine", f"dumpdtb={escaped(path)}"])
    # Documentation/devicetree/bindings/pmem/pmem-region.yaml of Linux; the root's cells are two each.
    node = f"/pmem@{kept.start:x}"
    run(["fdtput", "-p", "-t", "s", path, node, "compatible", "pmem-region"], package=_PACKAGE)
    words = [f"{half:x}" for value in (kept.start, kept.size) for half in (value >> 32, value & 0xFFFFFFFF)]
    run(["fdtput", "-t", "x", path, node, "reg", *words], package=_PACKAGE)
    return path
