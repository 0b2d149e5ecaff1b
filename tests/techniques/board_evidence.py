"""What a board's boot shows, for proofs of its bootloader; and a PC, which has none."""

from collections.abc import Mapping
from pathlib import Path

from bootlab.system import Booted, Kernel, Machine, MachineType, System
from bootlab.techniques.model.evidence import Evidence

PC = System(
    name="pc",
    machine=Machine(type=MachineType.Q35),
    kernel=Kernel(image=Path("vmlinuz")),
    booted=Booted(mark="ready"),
)
STANDARD = {"power_on": 0, "spl_entry": 2, "uboot_entry": 40, "kernel_load": 60, "image_entry": 90}
"""The marks of a boot by U-Boot proper."""


def evidence(console: str = "", marks: Mapping[str, int] = STANDARD, loaded: int | None = None) -> Evidence:
    """Return what a boot shows. `loaded`: bytes that were read from the card while the kernel was loaded."""
    read = {} if loaded is None else {"kernel load": loaded}
    return Evidence({}, {}, marks, console, None, sizes={"kernel": 2_500_000}, read_bytes=read)
