"""A QEMU command line of another tool -> what of it a system can say; each word that is left out keeps its reason.

qemu-system-x86_64 -M pc -kernel bzImage -drive file=rootfs.ext2,if=virtio,format=raw -append "root=/dev/vda" ...
"""

import re
import shlex
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Final

from bootlab.errors import InputError
from bootlab.system import Attachment

DEFAULT_MEMORY_MIB: Final = 128
"""What QEMU gives a guest that was not told (hw/core/machine.c)."""
_PROGRAM: Final = re.compile(r"qemu-system-([a-z0-9_]+)")
_ARCHITECTURES: Final = {"x86_64": "x86_64", "aarch64": "aarch64", "arm": "armv7", "riscv64": "riscv64"}
_SHELL: Final = re.compile(r"\$\{?[A-Za-z_@*][A-Za-z_]*\}?")
_UNITS: Final = {"k": 1 / 1024, "m": 1, "g": 1024, "t": 1 << 20, "": 1}

# Options of QEMU without a value, and what becomes of them; "" is said by the way in which bootlab starts any guest.
_FLAGS: Final = {
    "-nographic": "",
    "-no-reboot": "",
    "-snapshot": "",
    "-nodefaults": "",
    "-no-user-config": "",
    "-S": "",
    "-daemonize": "",
    "-enable-kvm": 'the clock decides that: clock.kind = "wall" takes KVM where it works',
    "-usb": 'no USB controller; machine.devices = ["qemu-xhci"] adds one',
    "-no-acpi": 'machine.options = { acpi = "off" } says so where the machine has it',
    "-no-hpet": 'machine.options = { hpet = "off" } says so',
}
# Options whose value changes nothing that a guest of bootlab's has, or that bootlab sets itself.
_OURS: Final = ("-display", "-monitor", "-qmp", "-name", "-pidfile", "-D", "-d", "-boot", "-accel", "-parallel")
_LEFT_OUT: Final = {
    "-vga": "no graphics card; machine.devices adds one",
    "-object": "not made",
    "-chardev": "the console is bootlab's",
    "-audiodev": "no sound",
    "-soundhw": "no sound",
    "-rtc": "the date in the clock is always the same",
    "-icount": "the virtual clock is bootlab's",
    "-smbios": "not said to the guest",
    "-global": "machine.options and machine.devices have their own words",
    "-virtfs": "no folder of the host's is shared",
    "-fsdev": "no folder of the host's is shared",
    "-dtb": "QEMU's own device tree of the machine is used",
}
_WITH_VALUE: Final = (
    "-M", "-machine", "-cpu", "-m", "-smp", "-kernel", "-initrd", "-append", "-bios", "-drive", "-hda", "-hdb", "-sd",
    "-pflash", "-mtdblock", "-device", "-net", "-netdev", "-nic", "-serial",
)  # fmt: skip
_NETWORK_DEVICES: Final = re.compile(r"virtio-net-(pci|device)(-non-transitional|-transitional)?|virtio-net")
_BLOCK_DEVICES: Final = {
    "virtio-blk-pci": "virtio",
    "virtio-blk-device": "virtio",
    "virtio-blk": "virtio",
    "scsi-hd": "scsi",
    "nvme": "nvme",
    "usb-storage": "usb",
    "ide-hd": "ide",
    "sd-card": "sd",
}


@dataclass(frozen=True, slots=True)
class QemuDrive:
    """A disk on a QEMU command line."""

    file: str
    attach: str
    """`virtio`, `scsi`, `nvme`, `usb`; `ide`, `sd`, `pflash`, `mtd`, which no disk of bootlab's is."""
    format: str = "raw"

    @property
    def attachment(self) -> Attachment | None:
        """Return the same of bootlab's; None where it has none."""
        return next((one for one in Attachment if one.value == self.attach and one is not Attachment.AHCI), None)


@dataclass(slots=True)
class QemuCommand:
    """What another tool's command line says of a guest."""

    arch: str
    machine: str = ""
    """QEMU's name; empty where nothing was said."""
    options: dict[str, str] = field(default_factory=dict)
    cpu: str | None = None
    memory_mib: int = DEFAULT_MEMORY_MIB
    vcpus: int = 1
    kernel: str | None = None
    initrd: str | None = None
    bios: str | None = None
    cmdline: str = ""
    drives: list[QemuDrive] = field(default_factory=list)
    network: bool = False
    left_out: dict[str, str] = field(default_factory=dict)
    """Words -> why nothing becomes of them."""


def parse_qemu_words(text: str, where: str) -> QemuCommand:
    """Return what a command line says; `where` is what it was read from, for messages.

    Raises InputError for what is no QEMU command line, or one for an architecture that bootlab does not emulate.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"{where}: not a command line: {error}") from error
    start = next((at for at, word in enumerate(words) if _PROGRAM.fullmatch(PurePath(word).name)), None)
    if start is None:
        raise InputError(f"{where}: no qemu-system-... is called in it")
    found = _PROGRAM.fullmatch(PurePath(words[start]).name)
    assert found is not None
    return _Reading(QemuCommand(_architecture(found[1], where)), where).read(words[start + 1 :])


def _architecture(name: str, where: str) -> str:
    if name not in _ARCHITECTURES:
        known = ", ".join(_ARCHITECTURES.values())
        raise InputError(
            f"{where}: qemu-system-{name}: bootlab has no machine of that architecture",
            hint=f"it emulates {known}; a real board is booted by [target]: docs/serial.md",
        )
    return _ARCHITECTURES[name]


class _Reading:
    """One pass over the words; what names something defined elsewhere is settled at the end."""

    def __init__(self, made: QemuCommand, where: str) -> None:
        self._made = made
        self._where = where
        # Drives that a device names by their ID: ID -> its place among the drives.
        self._named: dict[str, int] = {}
        # Devices that say `drive=ID`: ID -> how it is attached.
        self._attached: dict[str, str] = {}

    def read(self, words: list[str]) -> QemuCommand:
        rest = [word for word in words if not _SHELL.fullmatch(word)]
        while rest:
            option = rest.pop(0)
            if option.startswith("--"):
                option = option[1:]
            if option in _FLAGS:
                self._leave_out(option, _FLAGS[option])
            elif not option.startswith("-"):
                # A lone word is a disk image for QEMU.
                self._made.drives.append(QemuDrive(option, "ide"))
            else:
                known = option in _WITH_VALUE or option in _OURS or option in _LEFT_OUT
                self._take(option, rest.pop(0) if rest and (known or not rest[0].startswith("-")) else "")
        for name, place in self._named.items():
            drive = self._made.drives[place]
            self._made.drives[place] = replace(drive, attach=self._attached.get(name, "ide"))
        return self._made

    def _take(self, option: str, value: str) -> None:
        made = self._made
        if option in ("-M", "-machine"):
            self._machine(value)
        elif option == "-cpu":
            made.cpu = value
        elif option == "-m":
            made.memory_mib = self._mib(value)
        elif option == "-smp":
            made.vcpus = self._vcpus(value)
        elif option == "-kernel":
            made.kernel = value
        elif option == "-initrd":
            made.initrd = value
        elif option == "-append":
            made.cmdline = " ".join(value.split())
        elif option == "-bios":
            made.bios = None if value in ("default", "none") else value
        elif option == "-drive":
            self._drive(_fields(value))
        elif option in ("-hda", "-hdb", "-sd", "-pflash", "-mtdblock"):
            kinds = {"-sd": "sd", "-pflash": "pflash", "-mtdblock": "mtd"}
            made.drives.append(QemuDrive(value, kinds.get(option, "ide")))
        elif option == "-device":
            self._device(value)
        elif option in ("-net", "-netdev", "-nic"):
            self._network(option, value)
        elif option == "-serial":
            if value not in ("stdio", "mon:stdio", "mon:vc", "vc"):
                self._leave_out(f"-serial {value}", "bootlab's guests have one serial port")
        elif option not in _OURS:
            self._leave_out(f"{option} {value}".strip(), _LEFT_OUT.get(option, "not known here"))

    def _machine(self, value: str) -> None:
        first, *rest = value.split(",")
        name = first.removeprefix("type=")
        pairs = [part.partition("=") for part in rest]
        if "=" in name:
            pairs.insert(0, name.partition("="))
        elif name:
            self._made.machine = name
        for key, _, one in pairs:
            if key in ("accel", "kernel-irqchip"):
                self._leave_out(f"-machine {key}={one}", _FLAGS["-enable-kvm"])
            elif key:
                self._made.options[key] = one or "on"

    def _mib(self, value: str) -> int:
        found = re.match(r"(?:size=)?(\d{1,9})([kmgt]?)i?b?(?:,|$)", value.lower())
        if found is None:
            raise InputError(f"{self._where}: -m {value}: not a size of memory")
        return round(int(found[1]) * _UNITS[found[2]])

    def _vcpus(self, value: str) -> int:
        found = re.match(r"(?:cpus=)?(\d{1,4})(?:,|$)", value)
        if found is None:
            raise InputError(f"{self._where}: -smp {value}: not a number of CPUs")
        return int(found[1])

    def _drive(self, fields: dict[str, str]) -> None:
        file, form = fields.get("file", ""), fields.get("format", "raw")
        if not file:
            self._leave_out("-drive without a file", "there is nothing on it")
        elif fields.get("media") == "cdrom":
            self._leave_out(f"-drive file={file},media=cdrom", "bootlab has no CD drive")
        else:
            if fields.get("if") == "none":
                self._named[fields.get("id", file)] = len(self._made.drives)
            self._made.drives.append(QemuDrive(file, fields.get("if", "ide"), form))

    def _device(self, value: str) -> None:
        driver, _, rest = value.partition(",")
        fields = _fields(rest)
        if (attach := _BLOCK_DEVICES.get(driver)) is not None and "drive" in fields:
            self._attached[fields["drive"]] = attach
        elif _NETWORK_DEVICES.fullmatch(driver):
            self._made.network = True
        elif not driver.startswith("virtio-scsi"):
            self._leave_out(f"-device {value}", f'machine.devices = ["{driver}"] adds such a device')

    def _network(self, option: str, value: str) -> None:
        kind, _, rest = value.partition(",")
        model = _fields(rest).get("model", "") or (kind.removeprefix("model=") if kind.startswith("model=") else "")
        if (option == "-net" and kind == "nic") or (option == "-nic" and kind != "none"):
            if model and not model.startswith("virtio"):
                self._leave_out(f"{option} {value}", "bootlab's network card is a virtio card: [network]")
            else:
                self._made.network = True

    def _leave_out(self, words: str, why: str) -> None:
        if why:
            self._made.left_out.setdefault(words, why)


def _fields(text: str) -> dict[str, str]:
    # QEMU writes a comma in a value as two.
    parts = [part.replace("\0", ",") for part in text.replace(",,", "\0").split(",")]
    return {key: value for key, _, value in (part.partition("=") for part in parts) if key}
