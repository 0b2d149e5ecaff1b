"""A real board as a target: it boots what is delivered to it, or what is on it, and can be no other machine."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from bootlab.build import boot_files
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError, MissingTool
from bootlab.process import require_program
from bootlab.system import SerialLine, System
from bootlab.targets.serial.session import SerialSession
from bootlab.targets.shell import ShellQuestions, Telling, ask_by_command
from bootlab.targets.sizes import sizes_of
from bootlab.targets.target import NO_FILES, BootRequest, ConsoleTraits, OpenedMachine, Prepared

_BROUGHT = ("kernel", "initramfs", "rootfs", "disks")


@dataclass(frozen=True, slots=True, kw_only=True)
class SerialPrepared(Prepared):
    """A system that is ready to be delivered to its board.

    `delivery`: the environment of the command `target.deliver`. `contents`: what tells whether the board has it.
    """

    line: SerialLine
    delivery: Mapping[str, str] = field(default_factory=dict)
    contents: Mapping[str, str] = field(default_factory=dict)

    @property
    def alone(self) -> str | None:
        return "target: it is one machine"

    @property
    def bound_here(self) -> str | None:
        if self.line.labgrid is None:
            return "target: the board is on a line of this host"
        if self.line.delivers:
            return "target.deliver: a command of this host puts what is booted where the board finds it"
        return None

    @asynccontextmanager
    async def open(self, directory: Path, argv: list[str]) -> AsyncIterator[OpenedMachine]:
        line = self.line
        argv += ["labgrid", line.labgrid or ""] if line.power_on is None else line.words(line.power_on)
        by_command = line.shell is not None and line.shell.command is not None
        async with SerialSession(line, self.delivery, self.contents) as session:
            yield OpenedMachine(session, ask=ask_by_command if by_command else None, send=session.send)

    def asking(self, questions: ShellQuestions) -> Self:
        return replace(self, questions=questions)


class SerialTarget:
    """A board behind a serial line, which only its own power and console are known of."""

    fixed_machine = "the vCPUs and memory of a real board are what they are"

    def prepare(self, shop: Workshop, system: System, asked: BootRequest) -> SerialPrepared:
        """Make what is delivered to the board. Raises InputError for a profile: a real board has none."""
        line = system.target
        assert isinstance(line, SerialLine)
        if asked.profile is not None:
            raise InputError("target: a profile counts instructions, and those of a real board cannot be seen")
        console = ConsoleTraits(line.zero, line.marks, is_line=True, may_be_reset=True)
        if system.kernel.installed:
            return SerialPrepared(
                system=system, files=NO_FILES, hashes={}, sizes={}, runs_on="board", console=console, line=line
            )
        files = boot_files.prepare(shop, system)
        sizes = sizes_of(system, files)
        disks = [name for name in sizes if name not in ("kernel", "initramfs")]
        named = {"kernel": files.kernel, "initramfs": files.initramfs, **dict(zip(disks, files.disks, strict=True))}
        delivery = {f"BOOTLAB_{name.upper()}": "" if path is None else str(path) for name, path in named.items()}
        return SerialPrepared(
            system=system,
            files=files,
            hashes=dict(files.hashes),
            sizes=sizes,
            runs_on="board",
            console=console,
            line=line,
            delivery={**delivery, "BOOTLAB_CMDLINE": system.kernel.cmdline},
            contents={**files.hashes, "cmdline": system.kernel.cmdline},
        )

    def tools(self, system: System) -> dict[str, str]:
        """Return nothing: what boots is the board. Raises MissingTool where this host does not reach its place."""
        line = system.target
        assert isinstance(line, SerialLine)
        if line.labgrid is not None:
            require_program("labgrid-client", package="labgrid-client")
            if line.port.startswith("/") and not os.path.exists(line.port):
                raise MissingTool(f"target.port: {line.port}: no such line here", hint="it is where labgrid exports it")
        return {}

    def telling(self, system: System) -> Telling:
        """Return its shell, and whether the kernel that it boots is told anything."""
        line = system.target
        assert isinstance(line, SerialLine)
        return Telling(line.shell, line.delivers)

    def lacks(self, before: System, after: System) -> str | None:
        """Return why the board cannot become `after`, None where it can: only what is brought to it can change."""
        if before.kernel.installed:
            return "nothing is delivered to this board (target.deliver), so it boots what is on it"
        if any(getattr(before, part) != getattr(after, part) for part in System.model_fields if part not in _BROUGHT):
            return "it changes the emulated machine, and this one is real"
        if before.kernel.entry != after.kernel.entry:
            return "how the kernel is entered is QEMU's choice, and here the board's bootloader's"
        return None

    def doubts(self, system: System) -> list[str]:
        """Return nothing: a board has no virtual clock."""
        return []
