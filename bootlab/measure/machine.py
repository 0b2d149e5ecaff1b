"""The machine that a prepared system boots on: QEMU and its wiring, or a board on a serial line."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bootlab.measure.board_stages import CARD_LOG
from bootlab.measure.guest.tcp_check import free_port
from bootlab.measure.prepare import Prepared
from bootlab.measure.profile_setup import PROFILE, write_profile_config
from bootlab.profile.recorded.card_reads import TRACE_EVENT
from bootlab.system import Target
from bootlab.targets.qemu.argv import PluginFiles, Wiring, qemu_argv
from bootlab.targets.qemu.session import QemuSession, socket_folder
from bootlab.targets.serial.session import SerialSession
from bootlab.targets.target import Session


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine that is not switched on yet. `tcp_port`: of this host, where its check listens."""

    session: Session
    tcp_port: int | None = None
    board: SerialSession | None = None
    """The session, where it is one of a real board."""


def command_line(prepared: Prepared) -> list[str]:
    """Return what switches a board on, for its record; a QEMU's command line is only known when it is wired."""
    target = prepared.system.target
    assert target is not None
    return ["labgrid", target.labgrid or ""] if target.power_on is None else target.words(target.power_on)


@asynccontextmanager
async def open_machine(prepared: Prepared, directory: Path, argv: list[str]) -> AsyncIterator[Machine]:
    """Give the machine of one boot, and end it. `argv` gets the command that runs it.

    Raises BootFailed when it does not start, InputError for a line that cannot be opened, MissingTool.
    """
    system = prepared.system
    if system.target is not None:
        argv += command_line(prepared)
        async with _board(prepared, system.target) as board:
            yield Machine(board, board=board)
        return
    assert prepared.accelerator is not None
    with socket_folder() as folder:
        port = free_port() if system.network and system.network.guest_port else None
        wiring = Wiring(folder / "qmp", prepared.accelerator, port, _plugin_files(prepared, directory))
        argv += qemu_argv(system, prepared.files, wiring)
        async with QemuSession(argv, wiring.qmp_socket, stderr=directory / "qemu.stderr") as session:
            yield Machine(session, port)


def _board(prepared: Prepared, target: Target) -> SerialSession:
    if prepared.system.kernel.installed:
        return SerialSession(target, {}, {})
    files = prepared.files
    disks = dict(
        zip([name for name in prepared.sizes if name not in ("kernel", "initramfs")], files.disks, strict=True)
    )
    named = {"kernel": files.kernel, "initramfs": files.initramfs, **disks}
    delivery = {f"BOOTLAB_{name.upper()}": "" if path is None else str(path) for name, path in named.items()}
    delivery["BOOTLAB_CMDLINE"] = prepared.system.kernel.cmdline
    contents = {**prepared.hashes, "cmdline": prepared.system.kernel.cmdline}
    return SerialSession(target, delivery, contents)


def _plugin_files(prepared: Prepared, directory: Path) -> PluginFiles | None:
    if prepared.plugin is None or prepared.plugin_config is None:
        return None
    config = directory / "plugin.conf"
    text, profile = prepared.plugin_config, None
    if prepared.profile is not None:
        text += write_profile_config(prepared.profile, directory)
        profile = directory / PROFILE
    config.write_text(text, encoding="utf-8")
    files = PluginFiles(prepared.plugin, config, directory / "trace.txt", profile)
    if prepared.files.card is None:
        return files
    return replace(files, log=directory / CARD_LOG, logged=TRACE_EVENT)
