"""A build's output as a system: the machine that its tool boots it on, its parts, and what a user should be told of it.

Ready is its login prompt on the first serial console. Its kernel is booted as it was built; built again from the same
source, `system_of_output(..., rebuilt=True)`, it can be another one, which `try` and `tailor` need.
"""

import re
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from bootlab.build.formats.qcow2 import MAGIC as QCOW2_MAGIC
from bootlab.build.image.as_system import DEADLINE_S, describe_image, system_of_image
from bootlab.build.image.image_file import open_image
from bootlab.build.image.kept_contents import read_image
from bootlab.build.kernel.image import expect_arch, expect_loadable, inspect
from bootlab.build.outputs.output import BuildOutput
from bootlab.build.outputs.parts import parts_of
from bootlab.build.outputs.unpacked import make_card, unpack_disk
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.system import (
    Booted,
    Card,
    Disk,
    Initramfs,
    Kernel,
    KernelBuild,
    Machine,
    MachineType,
    Network,
    NetworkPeer,
    Rootfs,
    System,
)
from bootlab.system.complaint import complaints
from bootlab.system.value import name_from

_MACHINES: Final = {
    "x86_64": (("", "pc"), ("pc", "pc"), ("q35", "q35"), ("microvm", "microvm")),
    "aarch64": (("virt", "virt"),),
    "riscv64": (("virt", "virt"),),
    "armv7": (("orangepi-pc", "orangepi-pc"),),
}
_VERSIONED: Final = re.compile(r"(?:pc-(?P<q35>q35)|pc-(?P<pc>i440fx)|(?P<virt>virt))-\d[\d.]*")
_FEW: Final = 12


def system_of_output(shop: Workshop, output: BuildOutput, *, rebuilt: bool = False) -> System:
    """Return the system that boots an output; `rebuilt`: its kernel is built anew, of the same source.

    Raises InputError for what bootlab has no machine for, or cannot boot; MissingTool, StoreError.
    """
    name = name_from(output.name, "output")
    if output.image is not None:
        read = read_image(shop, open_image(unpack_disk(shop, output.image)))
        for line in describe_image(read):
            shop.tell(line)
        image = system_of_image(read)
        return image.model_copy(update={"name": name, "description": output.about})
    if rebuilt and output.source is None:
        raise InputError(
            f"{output.folder}: its kernel's source was not found, so no other kernel can be built",
            hint="; ".join(output.missing) or "[kernel.build] in a system file names one",
        )
    try:
        return _system(shop, output, name, rebuilt=rebuilt)
    except ValidationError as error:
        raise InputError(
            f"{output.folder}: what {output.about} says of its machine cannot be had here: {complaints(error)[0]}"
        ) from error


def _system(shop: Workshop, output: BuildOutput, name: str, *, rebuilt: bool) -> System:
    guest = output.guest
    machine: dict[str, Any] = {"type": _machine(output), "options": guest.options}
    if machine["type"] is not MachineType.ORANGEPI_PC:
        machine |= {"memory_mib": guest.memory_mib, "vcpus": guest.vcpus}
    if machine["type"] is MachineType.VIRT and guest.arch != "aarch64":
        machine["architecture"] = guest.arch
    if output.firmware is not None:
        machine["firmware"] = str(output.firmware)
    if guest.cpu is not None:
        machine["cpu"] = guest.cpu
    return System(
        name=name,
        description=output.about,
        machine=Machine.model_validate(machine),
        kernel=_kernel(output, rebuilt=rebuilt),
        card=Card(path=make_card(shop, output.card)) if output.card is not None else None,
        initramfs=Initramfs(path=output.initramfs) if output.initramfs is not None else None,
        rootfs=Rootfs(path=_raw_disk(shop, output.rootfs)) if output.rootfs is not None else None,
        disks=tuple(
            Disk(path=_raw_disk(shop, path), attach=attach, serial=f"disk{number}")
            for number, (path, attach) in enumerate(output.disks)
        ),
        network=Network(peer=NetworkPeer.BOOTLAB) if guest.network else None,
        booted=Booted(console=output.prompt, deadline_s=DEADLINE_S),
    )


def describe_output(output: BuildOutput) -> list[str]:
    """Return what was found in an output folder, a line each, for who is about to boot it."""
    lines = [
        f"{output.folder}: {output.about}",
        f"boots {', '.join(path.name for path in parts_of(output))} on {output.guest.machine or 'pc'}; "
        f"ready when the console says {output.prompt!r}",
    ]
    lines += output.remarks
    lines += [f"left out: {words}: {why}" for words, why in output.guest.left_out.items()]
    also = [f"{name}: {what}" for name, what in output.also.items()]
    lines += [f"found, too: {one}" for one in also[:_FEW]]
    if len(also) > _FEW:
        lines.append(f"found, too: {len(also) - _FEW} more files, none of which is booted")
    lines += [f"not found: {one}" for one in output.missing]
    return lines


def _raw_disk(shop: Workshop, path: Path) -> Path:
    raw = unpack_disk(shop, path)
    with raw.open("rb") as file:
        if file.read(len(QCOW2_MAGIC)) == QCOW2_MAGIC:
            raise InputError(
                f"{path}: a qcow2 image, and beside a kernel bootlab takes raw ones",
                hint=f"qemu-img convert -O raw {path.name} root.img, and name that in a system file",
            )
    return raw


def _kernel(output: BuildOutput, *, rebuilt: bool) -> Kernel:
    cmdline = output.guest.cmdline if output.card is None else ""
    if rebuilt and output.source is not None:
        source = output.source
        build = KernelBuild(source=source.source, config=source.config, patches=source.patches)
        return Kernel(build=build, cmdline=cmdline)
    if output.kernel is None:
        raise InputError(f"{output.folder}: no kernel in it")
    image = inspect(output.kernel)
    expect_arch(image, output.guest.arch)
    if output.card is None:
        expect_loadable(image)
    return Kernel(image=output.kernel, symbols=output.symbols, cmdline=cmdline)


def _machine(output: BuildOutput) -> MachineType:
    guest = output.guest
    name = guest.machine
    if found := _VERSIONED.fullmatch(name):
        name = found.lastgroup or name
    known = dict(_MACHINES.get(guest.arch, ()))
    if name not in known:
        have = ", ".join(filter(None, known)) or "none"
        raise InputError(
            f"{output.folder}: it is for QEMU's machine {guest.machine or '(none said)'!r} of {guest.arch}, and "
            f"bootlab has {have} of that architecture",
            hint="a system file of your own says on which machine its parts are to boot: docs/systems.md",
        )
    return MachineType(known[name])


def rebuilt_kernel(output: BuildOutput) -> Kernel | None:
    """Return its kernel as one that is built again from the same source; None where that was not found."""
    if output.source is None or output.kernel is None or output.card is not None:
        return None
    return _kernel(output, rebuilt=True)
