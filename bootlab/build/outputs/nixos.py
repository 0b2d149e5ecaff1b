"""NixOS: `result` of a system (kernel, initrd, init, kernel-params), or of netboot (kernel, initrd, netboot.ipxe).

A system's root is where it was installed: the folder does not hold it. So a system is ready when its initrd says that
it runs, unless a system file made of it names the root; netboot's initrd has the whole system inside.
"""

import re
from pathlib import Path
from typing import Final

from bootlab.build.kernel.image import inspect
from bootlab.build.outputs.assignments import read_small
from bootlab.build.outputs.output import BuildOutput, BuildTool
from bootlab.build.outputs.qemu_words import QemuCommand
from bootlab.errors import InputError

_SYSTEM: Final = ("kernel", "initrd", "init", "kernel-params")
_NETBOOT: Final = "netboot.ipxe"
_IPXE: Final = re.compile(r"^kernel\s+(\S+)\s*(.*)$", re.MULTILINE)
_FIRST_STAGE: Final = r"Stage 1|Running in initrd"
"""What the initrd says first, scripted (nixos/modules/system/boot/stage-1-init.sh) or as systemd."""
_MEMORY_MIB: Final = 1024
_CONSOLES: Final = {"x86_64": "ttyS0", "aarch64": "ttyAMA0", "riscv64": "ttyS0"}


def is_nixos(folder: Path) -> bool:
    """Return whether a folder is what building a NixOS system, or its netboot files, leaves."""
    return all((folder / name).exists() for name in _SYSTEM) or (folder / _NETBOOT).is_file()


def read_nixos(folder: Path) -> BuildOutput:
    """Return what such a folder holds. Raises InputError for one that cannot be booted."""
    netboot = folder / _NETBOOT
    words, kernel, initrd = "", folder / "kernel", folder / "initrd"
    if netboot.is_file():
        line = _IPXE.search(read_small(netboot))
        if line is None:
            raise InputError(f"{netboot}: no line that loads a kernel")
        kernel, words = folder / Path(line[1]).name, line[2].replace("${cmdline}", "")
        initrd = next(iter(sorted(folder.glob("initrd*"))), initrd)
    else:
        if not (folder / "kernel-params").is_file():
            raise InputError(
                f"{folder}: no output of NixOS: it has neither kernel-params nor {_NETBOOT}",
                hint="name `result`, which nix-build leaves: docs/outputs.md says what is in it",
            )
        words = f"init={(folder / 'init').resolve()} {read_small(folder / 'kernel-params')}"
    for path in (kernel, initrd):
        if not path.is_file():
            raise InputError(f"{path}: not there, and {folder} is a NixOS system", hint="nix-build makes it again")
    arch = inspect(kernel).arch
    if arch not in _CONSOLES:
        raise InputError(f"{kernel}: a kernel for {arch}, and bootlab has no machine for it")
    version = read_small(folder / "nixos-version").strip() if (folder / "nixos-version").is_file() else ""
    machine = "q35" if arch == "x86_64" else "virt"
    found = BuildOutput(
        tool=BuildTool.NIXOS,
        folder=folder,
        about=f"NixOS {version}".strip(),
        name=f"nixos-{version}".strip("-"),
        guest=QemuCommand(arch, machine=machine, memory_mib=_MEMORY_MIB, network=True),
        kernel=kernel,
        initramfs=initrd,
    )
    # The console is added where it is not said: a login prompt on a screen is seen by nobody here.
    console = f"console={_CONSOLES[arch]}"
    found.guest.cmdline = " ".join([*words.split(), *([] if console in words.split() else [console])])
    if not netboot.is_file():
        found.missing.append("the root: it is where the system was installed; [[disks]] in a system file names one")
        found.remarks.append("ready is when its initrd runs, as there is no root to go on to")
        found.prompt = _FIRST_STAGE
    return found
