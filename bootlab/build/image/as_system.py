"""A disk image as a system: the machine that boots it, what counts as ready, and the same as a system file.

An image says nothing of its machine. It gets a PC like a small one of a cloud's: one vCPU, 1 GiB, a virtio disk, a
virtio card on bootlab's own network. It is ready when its login prompt is on the serial console, or where its kernel is
told of none, when port 22 answers.
"""

import re

from bootlab.build.image.contents import BIOS, UEFI, Chain, ImageContents, describe_partitions
from bootlab.build.image.image_file import EFI, ISO
from bootlab.build.image.kept_contents import ReadImage
from bootlab.system import (
    Attachment,
    BootClock,
    Booted,
    DiskImage,
    Kernel,
    Machine,
    MachineType,
    Network,
    NetworkPeer,
    NetworkProbe,
    System,
)
from bootlab.system.value import name_from

_SERIAL = re.compile(r"(?<!\S)console=(?:ttyS0|ttyAMA0)\b")
LOGIN = "login:"
SSH_PORT = 22
SSH_PROBE = "ssh"
MEMORY_MIB = 1024
DEADLINE_S = 1800.0


def system_of_image(read: ReadImage) -> System:
    """Return the system that boots an image."""
    contents = read.contents
    booted = Booted(console=LOGIN, deadline_s=DEADLINE_S)
    is_arm64 = contents.arch == "aarch64"
    if is_arm64 or not has_serial_console(contents):
        # What goes out on a serial line of arm64 has no time on the virtual clock.
        booted = Booted(mark=SSH_PROBE, deadline_s=DEADLINE_S)
    path = read.image.path.absolute()
    name = name_from(path.stem, "image")
    return System(
        name=name,
        description=contents.os_name,
        machine=Machine(
            type=MachineType.VIRT if is_arm64 else MachineType.Q35,
            memory_mib=MEMORY_MIB,
            firmware=firmware_of(contents),
        ),
        clock=BootClock(),
        kernel=Kernel(installed=True),
        image=DiskImage(path=path, attach=Attachment.CD if contents.format == ISO else Attachment.VIRTIO),
        network=Network(peer=NetworkPeer.BOOTLAB, probes={SSH_PROBE: NetworkProbe(tcp=SSH_PORT)}),
        booted=booted,
    )


def firmware_of(contents: ImageContents) -> str:
    """Return the firmware that an image is booted by: BIOS where it can, as QEMU's machines do, else OVMF."""
    return "default" if contents.chains.get(BIOS, _NOTHING).kernel else "ovmf"


def has_serial_console(contents: ImageContents) -> bool:
    """Return whether the kernel that is booted writes to the first serial port."""
    return _SERIAL.search(_chain(contents).words) is not None


def describe_image(read: ReadImage) -> list[str]:
    """Return what was found in an image, a line each, for who is about to boot it."""
    contents, chosen = read.contents, _chain(read.contents)
    what = f"{contents.format}, {describe_partitions(contents)}"
    if contents.format == EFI:
        what = "a unified kernel image"
    elif contents.format == ISO:
        what = f"{describe_partitions(contents)}; attached as a CD (image.attach)"
    lines = [f"{read.image.path.name}: {contents.os_name or 'no os-release found'}; {what}"]
    uefi = "UEFI (AAVMF)" if contents.arch == "aarch64" else "UEFI (OVMF)"
    names = {BIOS: ("BIOS (SeaBIOS)", "default"), UEFI: (uefi, "ovmf")}
    firmware = firmware_of(contents)
    for key, chain in sorted(contents.chains.items(), key=lambda item: names[item[0]][1] != firmware):
        words, value = names[key]
        how = f"boots by {words}" if value == firmware else f'would boot by {words}, with machine.firmware = "{value}"'
        lines.append(f"{how}: {_chain_words(chain)}")
    if contents.arch == "aarch64":
        lines.append(
            "it is for arm64, whose serial line has no time on the virtual clock: ready is port 22's first answer "
            '(probe "ssh"); booted.mark takes another mark'
        )
    elif not has_serial_console(contents):
        lines.append(
            f'its kernel is told of no console on a serial line ("{chosen.words[:60]}"), so no login prompt can be '
            'seen: ready is port 22\'s first answer (probe "ssh"); console=ttyS0 in its bootloader shows more'
        )
    return lines


def _chain(contents: ImageContents) -> Chain:
    return contents.chains[BIOS if firmware_of(contents) == "default" else UEFI]


def _chain_words(chain: Chain) -> str:
    versions = [f"{one.kind} {one.version}" for one in chain.programs if one.version]
    loader = " + ".join(versions) if versions and len(versions) == len(chain.programs) else chain.loader
    menu = "" if chain.wait_s is None else f", its menu waits {chain.wait_s:g} s" if chain.wait_s > 0 else ""
    maker = f", initramfs of {chain.initramfs_maker}" if chain.initramfs_maker else ""
    missing = f"; its initramfs {', '.join(chain.missing)} is not there" if chain.missing else ""
    return f"{loader}{menu}, kernel {chain.kernel_path or 'not found'}{maker}{missing}{chain.unusable_words}"


_NOTHING = Chain(loader="")
