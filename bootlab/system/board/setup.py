"""What a system file asks of a board, held against what that board has."""

from dataclasses import dataclass

from bootlab.system.board.layout import Board
from bootlab.system.board.model import BoardModel
from bootlab.system.bootloader import Bootloader, Card, Flash
from bootlab.system.content import Initramfs
from bootlab.system.kernel import Kernel
from bootlab.system.machine import Machine, PageSize


@dataclass(frozen=True, slots=True)
class BoardSetup:
    """The parts of a system file that are about its board. `others`: the names of parts that it has besides."""

    board: Board
    machine: Machine
    kernel: Kernel
    bootloader: Bootloader | None
    card: Card | None
    flash: Flash | None
    model: BoardModel | None
    initramfs: Initramfs | None
    others: tuple[str, ...]

    @property
    def _what(self) -> str:
        return f"machine.type {self.machine.type.value!r}"

    def expect_possible(self) -> None:
        """Raise ValueError, which names the key, for what this board cannot do."""
        self._expect_medium()
        self._expect_hardware()
        self._expect_falcon()
        self._expect_model()

    def _expect_medium(self) -> None:
        what = self._what
        card, flash, bootloader = self.card, self.flash, self.bootloader
        if self.board.card is not None:
            if flash is not None:
                raise ValueError(f"{what} boots from its SD card and has no flash chip: [card], not [flash]")
            if card is None:
                raise ValueError(
                    f"{what} boots from its SD card: [card] composes one, or card.path names a finished one"
                )
            if card.path is None and bootloader is None:
                raise ValueError(f"{what} boots by U-Boot: [bootloader] says which, or card.path names a finished card")
            if card.device_tree_pruned and (self.kernel.build is None or card.dtb is not None):
                raise ValueError(
                    "card.device_tree_pruned: drivers are looked for in a kernel that is built (kernel.build), for the "
                    "tree of its own sources (no card.dtb)"
                )
        else:
            if card is not None:
                raise ValueError(f"{what} boots from its flash chip and has no SD card: [flash], not [card]")
            if flash is None:
                raise ValueError(
                    f"{what} boots by [bootloader] from its flash chip: [flash] composes an image of it, or flash.path "
                    "names a finished one"
                )
            if bootloader is None:
                raise ValueError(
                    f"{what} boots from [flash] by U-Boot, whose SPL is not in it: [bootloader] says which"
                )
        if bootloader is not None and bootloader.opensbi is not None and not self.board.opensbi:
            raise ValueError(f"bootloader.opensbi is a firmware of riscv64; {what} is {self.machine.arch}")

    def _expect_hardware(self) -> None:
        what = self._what
        machine, least_mib = self.machine, self.board.least_memory_mib
        if machine.firmware != "default":
            raise ValueError(f"{what} boots by [bootloader]: there is no machine.firmware beside it")
        if machine.memory_mib < least_mib:
            raise ValueError(f"machine.memory_mib is {machine.memory_mib}: U-Boot's SPL on {what} needs {least_mib}")
        if "storage" in self.others:
            raise ValueError(f"{what} has no storage model: its bootloader loads the kernel while the clock runs")
        if self.board.extensible:
            return
        for name in ("rootfs", "disks", "network"):
            if name in self.others:
                raise ValueError(f"{what} has no {name}: it boots from its card, and its kernel with an initramfs")
        if machine.page_size is not PageSize.AUTO:
            raise ValueError(f"{what}: machine.page_size is not for boards")
        if machine.devices:
            raise ValueError(f"{what}: machine.devices is not for boards: they have what is soldered to them")

    def _expect_falcon(self) -> None:
        bootloader, card, flash = self.bootloader, self.card, self.flash
        if bootloader is None or not bootloader.falcon:
            return
        if flash is not None:
            if flash.compression != "none":
                raise ValueError('bootloader.falcon: SPL unpacks no kernel: flash.compression = "none"')
            return
        beside = self.initramfs is not None and not self.initramfs.embedded
        if beside and card is not None and card.path is None:
            raise ValueError(
                "bootloader.falcon: SPL loads a kernel and its args, and no initramfs beside them: "
                "initramfs.embedded = true"
            )

    def _expect_model(self) -> None:
        what = self._what
        model = self.model
        if model is None:
            return
        if self.flash is not None:
            if model.camera_ms or model.camera_power == "spl":
                raise ValueError(
                    f"board_model.camera_ms and camera_power are of a board with a camera; {what} has none"
                )
            if self.flash.path is not None:
                raise ValueError(
                    "board_model is in the bootloader's drivers, by patches, and the one of flash.path is finished: "
                    "[flash] without path composes an image of [bootloader]"
                )
        # Of a flash chip nothing but the bootloader reads.
        if self.kernel.build is None and (self.flash is None or model.uart_baud):
            raise ValueError("board_model is in the kernel's drivers, by patches: it needs kernel.build")
        if "earlycon" in self.kernel.cmdline:
            raise ValueError("board_model: earlycon writes past the modelled line; leave it out of kernel.cmdline")
        if model.camera_power == "spl" and self.bootloader is None:
            raise ValueError('board_model.camera_power = "spl" needs a bootloader that is built: [bootloader]')
