"""System: everything that decides a boot, as one immutable value.

Nothing here touches a kernel or starts a machine. A technique changes a System by making another one
(`system.with_cmdline("quiet")`), so a comparison is always between two values that can be printed and diffed.
"""

import re
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, model_validator

from bootlab.errors import InputError
from bootlab.system.board.layout import BOARDS, Board
from bootlab.system.board.model import BoardModel
from bootlab.system.board.setup import BoardSetup
from bootlab.system.booted import Booted, Check, Timing
from bootlab.system.bootloader import Bootloader, Card, Flash
from bootlab.system.complaint import complaints
from bootlab.system.content import Initramfs, Rootfs
from bootlab.system.disk_image import DiskImage
from bootlab.system.disk_model import DiskModel
from bootlab.system.kernel import Kernel, KernelEntry, add_words
from bootlab.system.kvm import expect_kvm
from bootlab.system.machine import (
    Accelerator,
    Attachment,
    BootClock,
    ClockKind,
    Disk,
    Machine,
    MachineType,
    Storage,
)
from bootlab.system.network import Network
from bootlab.system.part import MARK, TEXT, Part, matching
from bootlab.system.power_on.hibernated import Restorer, expect_hibernated
from bootlab.system.power_on.kept_ram import expect_kept_ram
from bootlab.system.power_on.power_on import KeptRam, PowerOn, PowerOnKind
from bootlab.system.power_on.wake import EarlyWake, expect_wakes
from bootlab.system.screen.screen import GuestScreen, expect_first_display, expect_keyboard
from bootlab.system.snapshot import Snapshot
from bootlab.system.target.asked_machine import asked_defaults
from bootlab.system.target.target import Target, is_asked_target, is_real_target, vmm_of
from bootlab.system.target.vmm import VmmProgram

# A run's directory is called after two of them, and a file system takes 255 bytes.
_LONGEST_NAME = 100
_VIRT_MEMORY_AT = 0x40000000
"""Of QEMU's virt for arm64 (hw/arm/virt.c)."""
NAME = rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{_LONGEST_NAME - 1}}}"


def name_from(text: str, otherwise: str) -> str:
    """Return a system's name made of a file's or a host's, `otherwise` where nothing of that can be one."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")[:_LONGEST_NAME].rstrip("-._") or otherwise


class System(Part):
    """Everything that decides a boot. Two equal Systems are the same boot, given the same seed."""

    name: Annotated[str, matching(NAME, "is not 1 to 100 letters, digits and . _ -, a letter or digit first")]
    description: str = ""
    target: Target | None = None
    """Where it boots; without one the machine is emulated here."""
    machine: Machine
    clock: BootClock = BootClock()
    kernel: Kernel
    bootloader: Bootloader | None = None
    card: Card | None = None
    # Left out of documents where there is none, as all that came after boots that are on record.
    flash: Flash | None = Field(default=None, exclude_if=lambda value: value is None)
    board_model: BoardModel | None = None
    image: DiskImage | None = Field(default=None, exclude_if=lambda value: value is None)
    """All that it boots: neither a kernel nor a root is given beside it."""
    initramfs: Initramfs | None = None
    rootfs: Rootfs | None = None
    storage: Storage | None = None
    disks: tuple[Disk, ...] = Field(default=(), strict=False)
    network: Network | None = None
    screen: GuestScreen | None = Field(default=None, exclude_if=lambda value: value is None)
    snapshot: Snapshot | None = Field(default=None, exclude_if=lambda value: value is None)
    power_on: PowerOn | None = Field(default=None, exclude_if=lambda value: value is None)
    """What it finds as it is switched on; without one nothing."""
    wake: EarlyWake | None = Field(default=None, exclude_if=lambda value: value is None)
    restorer: Restorer | None = Field(default=None, exclude_if=lambda value: value is None)
    """What starts at a power-on of kind hibernated in the place of [kernel] and [initramfs]; by default they do."""
    booted: Booted
    check: Check | None = None
    marks: dict[str, str] = {}
    """Mark name -> kernel symbol whose first execution is the mark (virtual clock, or wall with TCG)."""
    timings: dict[Annotated[str, MARK], Timing] = Field(default={}, exclude_if=lambda value: not value)
    """Stretches of the boot that its users feel, by name: told of every boot, whatever its `booted` is."""
    extensions: tuple[Annotated[Path, TEXT], ...] = Field(default=(), strict=False, exclude_if=lambda value: not value)
    """Folders of techniques and host models that are not bootlab's own (docs/extending.md)."""
    seed: int = Field(default=1, ge=1, le=(1 << 31) - 1)

    @model_validator(mode="before")
    @classmethod
    def _as_a_board_is(cls, given: Any) -> Any:
        # An image boots what is on it, and so does a board unless something is delivered; that has no other clock than
        # its console.
        if not isinstance(given, dict):
            return given
        if given.get("image") is not None:
            return {"kernel": {"installed": True}, **given}
        if (vmm := vmm_of(given.get("target"))) is not None:
            return vmm.filled_in(given)
        if not is_real_target(given.get("target")):
            return given
        if is_asked_target(given.get("target")) and isinstance(given.get("machine") or {}, dict):
            return asked_defaults(given)
        machine = given.get("machine")
        if isinstance(machine, dict):
            given = {**given, "machine": {"cpu": "unknown", **machine}}
        return {"clock": {"kind": ClockKind.CONSOLE.value}, "kernel": {"installed": True}, **given}

    @model_validator(mode="after")
    def _real_or_emulated(self) -> Self:
        real = self.target is not None and self.target.is_real
        delivers = self.target is not None and self.target.delivers
        if real != self.machine.type.is_real:
            boards = [kind.value for kind in MachineType if kind.is_real]
            other = f"a board: {' or '.join(boards)}" if real else "emulated, or has a [target]"
            raise ValueError(f"machine.type {self.machine.type.value!r} must be {other}")
        asked = is_asked_target(self.target)
        if (real and not asked) != (self.clock.kind is ClockKind.CONSOLE):
            raise ValueError('clock.kind = "console" is the clock of a board on a serial line, and its only one')
        if asked != (self.clock.kind is ClockKind.OUTSIDE):
            raise ValueError('clock.kind = "outside" is the clock of a machine that is asked, and its only one')
        if self.image is not None:
            self._expect_image()
            return self
        if asked:
            self._expect_only_answers()
            return self
        if self.kernel.installed and (not real or delivers or self.initramfs or self.rootfs):
            raise ValueError("kernel.installed is for a board that boots what is on it: nothing is delivered to it")
        if real:
            if not self.kernel.installed and not delivers:
                raise ValueError("target.deliver is missing: nothing brings this kernel to the board")
            if self.network is not None or self.storage is not None or self.marks:
                raise ValueError(
                    "network, storage and marks (symbols) are of an emulated machine; target.marks are console lines"
                )
        return self

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        machine, kernel = self.machine, self.kernel
        if isinstance(self.target, VmmProgram):
            self.target.expect_possible(self)
        if kernel.entry is KernelEntry.PVH and machine.arch != "x86_64":
            what = f"machine.type {machine.type.value!r} is {machine.arch}"
            raise ValueError(f'kernel.entry = "pvh" is an x86-64 boot protocol; {what}')
        if machine.firmware == "qboot" and machine.type is MachineType.VIRT:
            raise ValueError('machine.firmware = "qboot" is an x86 firmware; the virt machine needs none')
        if self.rootfs is not None and self.rootfs.device == "pmem" and machine.arch == "riscv64":
            raise ValueError('rootfs.device = "pmem": QEMU has no NVDIMM for riscv64; "virtio-blk" is what it has')
        if self.clock.kind is ClockKind.VIRTUAL and self.clock.accelerator is Accelerator.KVM:
            raise ValueError('clock.accelerator = "kvm" cannot count instructions; use clock.kind = "wall"')
        expect_kvm(machine, self.clock)
        if self.initramfs is not None and self.initramfs.embedded and kernel.build is None:
            raise ValueError("initramfs.embedded puts the archive into a kernel that is built: it needs kernel.build")
        if self.initramfs is not None and self.initramfs.installed and (self.rootfs is None or not self.rootfs.scripts):
            raise ValueError(
                "initramfs.installed is the one that the packages of [rootfs] make when they are installed: "
                "it needs rootfs.scripts = true"
            )
        if self.check is not None and self.check.mark is not None and self.check.mark == self.booted.mark:
            raise ValueError("check.mark is booted.mark: a system that is ready would have passed its check, too")
        if self.clock.kind is not ClockKind.VIRTUAL and (where := next(iter(self.modelled_disks), None)):
            raise ValueError(f'model of {where}: a disk is modelled on the virtual clock: clock.kind = "virtual"')
        if self.network is not None and self.network.probes and self.clock.kind is not ClockKind.VIRTUAL:
            raise ValueError('network.probes are asked at times of the virtual clock: clock.kind = "virtual"')
        if self.screen is not None:
            self._expect_screen(self.screen)
        asks = self.check is not None and self.check.send is not None
        if asks and (self.network is None or self.network.guest_port is None):
            raise ValueError("check.send needs network.guest_port: the port that the host connects to")
        if machine.firmware == "ovmf" and self.image is None:
            raise ValueError('machine.firmware = "ovmf" is for a system that boots from an [image]')
        if machine.boot_menu_s is not None and (self.image is None or machine.firmware not in ("default", "ovmf")):
            raise ValueError("machine.boot_menu_s is of SeaBIOS and OVMF, which boot an [image]")
        self._expect_bus()
        self._expect_board()
        expect_kept_ram(self)
        agent = any(one is not None and one.sleep_agent for one in (self.initramfs, self.rootfs))
        expect_wakes(self.power_on, self.wake, self.machine, self.kernel, agent=agent)
        expect_hibernated(self)
        return self

    def _expect_screen(self, screen: GuestScreen) -> None:
        if self.clock.kind is not ClockKind.VIRTUAL or self.board is not None:
            raise ValueError("screen: it is looked at, at times of the virtual clock, on an emulated machine")
        expect_first_display(self.machine.devices)
        if screen.typed:
            expect_keyboard(self.machine.type.value, self.machine.devices)
        others = {*self.marks, *(self.network.probes if self.network is not None else ())}
        for table, names in (("marks", screen.marks), ("typed", screen.typed)):
            for name in names:
                if name in others:
                    raise ValueError(f"screen.{table}.{name}: there is another mark of this name; give it another one")

    @property
    def kept_ram(self) -> KeptRam | None:
        """Return the region of memory that outlives the power, of a root or of a board's card; None without one."""
        of_parts = (part.kept_ram for part in (self.card, self.rootfs) if part is not None)
        return next((kept for kept in of_parts if kept is not None), None)

    @property
    def kept_by_loader(self) -> bool:
        """Return whether it is a board's SPL that looks into that region."""
        return self.card is not None and self.card.kept_ram is not None

    @property
    def kept_span(self) -> range | None:
        """Return where in the machine's memory that region lies, from the memory's first byte on."""
        kept, first = self.kept_ram, self.memory_at
        return None if kept is None else range(kept.start - first, kept.start - first + kept.size)

    @property
    def restores(self) -> bool:
        """Return whether its restorer's kernel is the one that this power-on starts."""
        hibernated = self.power_on is not None and self.power_on.kind is PowerOnKind.HIBERNATED
        return self.restorer is not None and hibernated

    @property
    def started_kernel(self) -> Kernel:
        """Return the kernel that this power-on starts."""
        return self.restorer.kernel if self.restorer is not None and self.restores else self.kernel

    @property
    def swap_device(self) -> str | None:
        """Return the device file of the swap area, on a disk or a board's card, as a kernel names it; None: none."""
        if self.board is not None and self.board.card is not None:
            return self.board.card.swap_device if self.hibernated_by_loader else None
        return self._virtio_disk_with("swap")

    @property
    def hibernated_by_loader(self) -> bool:
        """Return whether it is a board's SPL that goes on from a hibernation image."""
        return self.card is not None and self.card.swap_mib is not None

    @property
    def changes_device(self) -> str | None:
        """Return the device file of the disk with what is written over a root in kept RAM; None where there is none."""
        return self._virtio_disk_with("changes")

    def _virtio_disk_with(self, filesystem: str) -> str | None:
        attached = [disk for disk in self.disks if disk.attach is Attachment.VIRTIO]
        before = 1 if self.rootfs is not None and self.rootfs.device in ("virtio-blk", "kept-ram") else 0
        places = [index for index, disk in enumerate(attached) if disk.filesystem == filesystem]
        return f"/dev/vd{chr(ord('a') + before + places[0])}" if places else None

    def _expect_only_answers(self) -> None:
        brought = ("initramfs", "rootfs", "storage", "network", "disks", "marks", "bootloader", "card", "flash")
        given = [name for name in brought if getattr(self, name)]
        if given or not self.kernel.installed:
            what = given[0] if given else "kernel"
            raise ValueError(f"[{what}] is brought to a machine; one that is asked boots what it has")
        if self.booted.console is not None or self.check is not None:
            raise ValueError("booted.console and [check] are for a console: booted.mark names one of the answers")

    def _expect_image(self) -> None:
        machine = self.machine
        for name in ("target", "initramfs", "rootfs", "bootloader", "card", "flash", "board_model", "storage"):
            if getattr(self, name) is not None:
                raise ValueError(f"[{name}] does not go with [image], which brings all that is booted")
        assert self.image is not None
        if not self.kernel.installed or self.kernel.entry is not KernelEntry.IMAGE:
            raise ValueError(
                "kernel: an [image] boots the kernel that is on it: kernel.installed = true, or no [kernel] at all; "
                "kernel.cmdline is added to the words of its bootloader"
            )
        if machine.firmware == "qboot":
            raise ValueError('machine.firmware = "qboot" boots no disk')
        if self.image.loader in ("uki", "efi-stub") and machine.firmware != "ovmf":
            raise ValueError(f'image.loader = "{self.image.loader}" is started by UEFI: machine.firmware = "ovmf"')
        if machine.secure_boot and self.image.loader is not None:
            raise ValueError(f'image.loader = "{self.image.loader}" starts what machine.secure_boot refuses: unsigned')
        is_arm64 = machine.type is MachineType.VIRT and machine.arch == "aarch64"
        if is_arm64 and (machine.firmware != "ovmf" or self.image.loader not in (None, "direct")):
            raise ValueError('arm64 boots an [image] by UEFI: machine.firmware = "ovmf", no image.loader but "direct"')
        if not is_arm64 and machine.type not in (MachineType.Q35, MachineType.PC):
            raise ValueError(
                f'machine.type {machine.type.value!r} boots no [image]: "q35", "pc", and "virt" (arm64) do'
            )
        if self.clock.kind is ClockKind.CONSOLE:
            raise ValueError('clock.kind = "console" is the clock of a real board')

    def _expect_bus(self) -> None:
        machine = self.machine
        if machine.type is not MachineType.MICROVM or machine.options.get("pcie") == "on":
            return
        on_nvme = [f"disks.{index}.attach" for index, one in enumerate(self.disks) if one.attach is Attachment.NVME]
        if self.rootfs is not None and self.rootfs.device == "nvme":
            on_nvme.insert(0, "rootfs.device")
        if on_nvme:
            raise ValueError(f'{on_nvme[0]} = "nvme" needs a PCI bus: machine.options = {{ pcie = "on" }} on microvm')

    def _expect_board(self) -> None:
        machine, board = self.machine, self.board
        what = f"machine.type {machine.type.value!r}"
        if board is None:
            boards = ", ".join(f"{kind.value!r} ({arch})" for kind, arch in BOARDS)
            for name in ("bootloader", "card", "flash", "board_model"):
                if getattr(self, name) is not None:
                    raise ValueError(f"[{name}] is of a board; {what} ({machine.arch}) is none: {boards}")
            return
        BoardSetup(
            board=board,
            machine=machine,
            kernel=self.kernel,
            bootloader=self.bootloader,
            card=self.card,
            flash=self.flash,
            model=self.board_model,
            initramfs=self.initramfs,
            others=tuple(name for name in ("storage", "rootfs", "disks", "network") if getattr(self, name)),
        ).expect_possible()

    @property
    def board(self) -> Board | None:
        """What its machine boots from and where, when that is a board; None elsewhere."""
        board = BOARDS.get((self.machine.type, self.machine.arch))
        told = any(part is not None for part in (self.bootloader, self.card, self.flash, self.board_model))
        # QEMU starts the kernel of this one itself unless it is told to boot by a bootloader.
        return None if board is not None and board.extensible and not told else board

    @property
    def modelled_disks(self) -> dict[str, DiskModel]:
        """Return the model of each disk that has one, by QEMU's name of the disk: `image`, `rootfs`, `disk0`, ..."""
        whole = [(name, part.model) for name, part in (("image", self.image), ("rootfs", self.rootfs)) if part]
        models = dict([*whole, *((f"disk{index}", disk.model) for index, disk in enumerate(self.disks))])
        if self.image is not None and self.image.life > 1 and (model := self.image.model) is not None:
            # What a life before has read of a volume made of a snapshot is loaded.
            models["image"] = model.model_copy(update={"first_touch_ns": 0})
        return {name: model for name, model in models.items() if model is not None}

    @property
    def kept_disks(self) -> tuple[str, ...]:
        """Return the names of the disks of which all that is written is kept, as in `modelled_disks`."""
        root = [] if self.rootfs is None or not self.rootfs.keep_writes else ["rootfs"]
        return (*root, *(f"disk{index}" for index, disk in enumerate(self.disks) if disk.keep_writes))

    @property
    def finished_medium(self) -> tuple[str, Path] | None:
        """Return key and path of the finished image that a board boots from; None where its medium is composed."""
        for key, part in (("card.path", self.card), ("flash.path", self.flash)):
            if part is not None and part.path is not None:
                return key, part.path
        return None

    @property
    def kernel_places(self) -> tuple[int, ...]:
        """Return where a board's bootloader may put the kernel image; empty where there is no board."""
        if self.board is None:
            return ()
        asked = self.card.load_address if self.card is not None else None
        return (self.board.kernel_at, *([asked] if asked is not None else []))

    @property
    def appended_tree_options(self) -> tuple[str, ...]:
        """Return the options of a kernel that takes its device tree from right behind its image; empty for others."""
        if self.card is None or self.card.device_tree != "appended":
            return ()
        # In Falcon mode nobody passes ATAGs: all that they would say is in the tree.
        falcon = self.bootloader is not None and self.bootloader.falcon
        return ("ARM_APPENDED_DTB",) if falcon else ("ARM_APPENDED_DTB", "ARM_ATAG_DTB_COMPAT")

    @property
    def memory(self) -> range | None:
        """Return the physical addresses of a board's RAM; None where there is no board."""
        if self.board is None:
            return None
        return range(self.board.memory_at, self.board.memory_at + (self.machine.memory_mib << 20))

    @property
    def memory_at(self) -> int:
        """Return the physical address at which the machine's memory begins, where kept RAM may lie: 0 but on arm."""
        if self.memory is not None:
            return self.memory.start
        return _VIRT_MEMORY_AT if (self.machine.type, self.machine.arch) == (MachineType.VIRT, "aarch64") else 0

    def with_cmdline(self, *words: str) -> "System":
        """Return this system with `words` added at the end of the kernel's own words on its command line."""
        return self.with_part("kernel", cmdline=add_words(self.kernel.cmdline, *words))

    def with_options(self, **options: str) -> "System":
        """Return this system with options of the kernel to build changed, as in `SMP="n"`.

        Raises InputError when the kernel is not built.
        """
        build = self.kernel.build
        if build is None:
            raise InputError(f"{self.name}: the kernel is not built, so it has no options to change")
        return self.with_part("kernel", build={**dict(build), "options": {**build.options, **options}})

    def with_part(self, part: str, **changes: Any) -> "System":
        """Return this system with keys of one part changed, checked like a file. Raises InputError."""
        old = getattr(self, part)
        if old is None:
            raise InputError(f"{self.name}: the system has no [{part}] to change")
        try:
            return System.model_validate({**dict(self), part: {**dict(old), **changes}})
        except ValidationError as error:
            raise InputError(f"{self.name}: {complaints(error)[0]}") from error

    def with_seed(self, seed: int) -> "System":
        """Return this system with another seed. Raises InputError for one out of range."""
        try:
            return System.model_validate({**dict(self), "seed": seed})
        except ValidationError as error:
            raise InputError(f"{self.name}: {complaints(error)[0]}") from error
