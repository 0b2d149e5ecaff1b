"""QEMU as a target: a machine emulated here, its instructions counted by the plugin, or run on the wall clock."""

import platform
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Self

from bootlab.build import restored_files
from bootlab.build.cache import Cache, file_sha256
from bootlab.build.plugin import find_plugin
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError, MissingTool
from bootlab.profile.asked.marks import arch_line, expect_ticks, make_plugin_config, skip_line
from bootlab.profile.asked.stage_marks import LoadedFile, stage_lines
from bootlab.profile.recorded.about import PROFILE
from bootlab.profile.recorded.card_reads import CARD_LOG, TRACE_EVENT
from bootlab.profile.recorded.disk_requests import REQUESTS, WRITES
from bootlab.profile.recorded.pictures import PICTURES
from bootlab.snapshot.asked import KeepRequest, Restored
from bootlab.symbols.firmware import Firmware
from bootlab.symbols.system_map import read_kernel_symbols
from bootlab.symbols.table import SymbolTable, read_symbols
from bootlab.system import Accelerator, BootFiles, ClockKind, System, moved_ticks_ns, sleep_words
from bootlab.targets.launch import Launch
from bootlab.targets.machine_process import VMM_TRACE, make_socket_folder
from bootlab.targets.qemu.argv import clock_s, qemu_argv, qemu_binary
from bootlab.targets.qemu.exact_devices import CONFIG_LINE, are_exact, inexact_disks, inexact_network, modelled_lines
from bootlab.targets.qemu.host_charges import charge_lines, model_hash
from bootlab.targets.qemu.huge_pages import expect_pages
from bootlab.targets.qemu.hypervisor import hypervisor_line
from bootlab.targets.qemu.image_stages import image_stage_lines
from bootlab.targets.qemu.kept_tree import make_kept_tree
from bootlab.targets.qemu.kvm import probe_kvm
from bootlab.targets.qemu.life import expect_lives, left_by, life_config, make_room, press_power_button
from bootlab.targets.qemu.network import GuestNetwork, read_network
from bootlab.targets.qemu.power_on import LeftFiles, finding, leaving, leaving_config, make_left_files
from bootlab.targets.qemu.profile_setup import ProfileSetup, set_up_profile, write_profile_config
from bootlab.targets.qemu.program import find_firmware, find_option_rom, probe_qemu_version, require_qemu
from bootlab.targets.qemu.screen import picture_hashes, screen_lines, write_pictures
from bootlab.targets.qemu.session import QemuSession, find_free_port
from bootlab.targets.qemu.snapshots import (
    SnapshotWiring,
    expect_keepable,
    expect_mark_of_guest,
    past_lines,
    restored_config,
)
from bootlab.targets.qemu.waking import is_woken_by_host, waking_lines
from bootlab.targets.qemu.wiring import PluginFiles, Wiring
from bootlab.targets.sizes import sizes_of
from bootlab.targets.target import REST, TRACE, BootRequest, OpenedMachine, Prepared

_NOT_ASKED_FOR = "not asked for"
_TOOLS = ("qemu", "firmware", "plugin")


@dataclass(frozen=True, slots=True, kw_only=True)
class QemuPrepared(Prepared):
    """A system that is ready to boot under QEMU. `plugin` is None on the wall clock, as are symbols and its config.

    `kvm`: what is known of KVM here, in words. `profile`: what a profiled boot is told besides; it is not part of the
    key, because the guest cannot notice it.
    """

    qemu: Path
    accelerator: Accelerator
    kvm: str = _NOT_ASKED_FOR
    plugin: Path | None = None
    profile: ProfileSetup | None = None
    network: GuestNetwork | None = None
    lasting: bool = False
    """It is a life: what the guest writes is kept."""
    left: LeftFiles | None = None
    """What it leaves to another power-on, or finds."""
    traced_vmm: bool = False
    """What QEMU asks KVM for is written down."""

    @asynccontextmanager
    async def open(self, directory: Path, argv: list[str]) -> AsyncIterator[OpenedMachine]:
        system = self.system
        port = find_free_port() if system.network and system.network.guest_port else None
        network = nullcontext() if self.network is None else self.network.connect(directory, port)
        with make_socket_folder() as folder, network as wire:
            plugin = self._plugin_files(directory, "" if wire is None else wire.config_line)
            kept = SnapshotWiring(system, self.keeping, self.restored or self.begins, folder)
            wiring = Wiring(
                folder / "qmp",
                self.accelerator,
                port,
                plugin,
                None if wire is None else wire.descriptor,
                kept.files(self.files),
                kept.identity(),
                memory=self.left.memory if self.left is not None else None,
                overlays=self.left.overlays if self.left is not None else None,
                words=self._sleep_words,
                device_tree=make_kept_tree(system, folder),
                lasting=self.lasting,
            )
            argv += qemu_argv(system, self.files, wiring)
            inherited = () if wire is None else wire.inherited
            trace = directory / VMM_TRACE if self.traced_vmm else None
            errors = directory / "qemu.stderr"
            session = QemuSession(argv, wiring.qmp_socket, stderr=errors, inherited=inherited, trace=trace)
            session.wakes = is_woken_by_host(system)
            async with session:
                if wire is not None:
                    wire.let_go(session.tell_mark)
                await kept.load(session.qmp)
                yield OpenedMachine(
                    session,
                    port,
                    partial(kept.keep, session.qmp) if self.keeping is not None else None,
                    power_off=partial(press_power_button, session.qmp, system.clock.kind) if self.lasting else None,
                    launch=None if system.clock.kind is ClockKind.VIRTUAL else partial(self._launch, session),
                    pid=lambda: session.pid,
                )
        if wire is not None:
            session.doubts += wire.doubts
            session.remarks += wire.remarks

    def expect_keepable(self) -> None:
        expect_keepable(self.system)

    def expect_beginning(self, at: str) -> None:
        expect_keepable(self.system, goes_on=True)
        expect_mark_of_guest(self.system, at)

    def kept_at(self, keeping: KeepRequest) -> Self:
        if keeping.reads:
            self.expect_beginning(keeping.at)
        else:
            self.expect_keepable()
        return replace(self, keeping=keeping, plugin_config=f"{self.plugin_config}pause {keeping.at}\n")

    def from_snapshot(self, restored: Restored) -> Self:
        self.expect_keepable()
        who = {} if restored.identity is None else {"clone": restored.identity.sha256}
        return replace(
            self,
            restored=restored,
            hashes={**self.hashes, **who},
            plugin_config=restored_config(self.plugin_config or ""),
        )

    @property
    def remembers(self) -> bool:
        return self.system.image is not None

    def tracing_vmm(self) -> Self:
        return replace(self, traced_vmm=True)

    def living(self, folder: Path, over_ns: int) -> Self:
        expect_lives(self.system, self.files)
        files = make_room(self.files, folder)
        config = None if self.plugin_config is None else life_config(self.plugin_config, over_ns)
        return replace(self, files=files, lasting=True, plugin_config=config)

    def after_life(self, folder: Path, identity: str) -> Self:
        return replace(self, files=left_by(self.files, folder), hashes={**self.hashes, "life_before": identity})

    @property
    def _sleep_words(self) -> str:
        if self.left is not None:
            return self.left.words
        return sleep_words(self.system.power_on, self.system.wake, clock_s(self.system))

    @property
    def left_at(self) -> str:
        return self.left.until if self.left is not None else ""

    def leaving(self, folder: Path, system: System) -> Self:
        left = leaving(system, folder, self.left)
        if folder != Path():
            make_left_files(left, self.left, self.files)
        return replace(self, left=left, plugin_config=leaving_config(self.plugin_config or "", left.stop))

    def finding(self, folder: Path, identity: str) -> Self:
        return replace(
            self,
            left=finding(self.system, folder),
            hashes={**self.hashes, "found": identity},
            sizes={**self.sizes, "found": sum(path.stat().st_blocks * 512 for path in folder.iterdir())},
        )

    @property
    def unseen(self) -> tuple[str, ...]:
        return self.profile.about.missing if self.profile is not None else ()

    @property
    def bound_here(self) -> str | None:
        if self.left is not None:
            return "power_on: what a boot before has left is on this host only"
        # An image may lie on others, and what is on it is read here.
        return "image: a system that boots from a disk image boots on this host only" if self.system.image else None

    @property
    def tools(self) -> dict[str, str]:
        return {name: self.hashes[name] for name in _TOOLS if name in self.hashes}

    def adopted(self, files: BootFiles) -> Self:
        accelerator, kvm = self.accelerator, self.kvm
        if self.system.clock.kind is ClockKind.WALL:
            accelerator, kvm = _accelerator(self.system, Cache.default())
            if accelerator is not self.accelerator:
                raise MissingTool(f"KVM does not run guests here, and did where this boot was prepared: {kvm}")
        expect_pages(self.system)
        return replace(
            self,
            files=files,
            qemu=require_qemu(qemu_binary(self.system)),
            plugin=find_plugin(Workshop(Cache.default())) if self.plugin is not None else None,
            accelerator=accelerator,
            kvm=kvm,
        )

    def host_facts(self) -> dict[str, Any]:
        return {"qemu": probe_qemu_version(self.qemu), "kvm": self.kvm}

    def _launch(self, session: QemuSession) -> Launch:
        return Launch("QEMU", probe_qemu_version(self.qemu), session.launch())

    def _plugin_files(self, directory: Path, more: str) -> PluginFiles | None:
        if self.plugin is None or self.plugin_config is None:
            return None
        config = directory / "plugin.conf"
        text, profile = self.plugin_config + skip_line(moved_ticks_ns(self.system)) + more, None
        if self.begins is not None:
            text += past_lines(self.begins)
        if self.restored is None:
            text += write_pictures(self.system, directory)
        if self.profile is not None:
            text += write_profile_config(self.profile, directory)
            profile = directory / PROFILE
        config.write_text(text, encoding="utf-8")
        requests = directory / REQUESTS if self.system.modelled_disks else None
        writes = directory / WRITES if self.system.kept_disks else None
        pictures = directory / PICTURES if self.system.screen is not None and self.restored is None else None
        trace = directory / (TRACE if self.begins is None else REST)
        state = self.keeping.folder if self.keeping is not None and self.keeping.reads else None
        resume = self.begins.folder if self.begins is not None else None
        files = PluginFiles(self.plugin, config, trace, profile, requests, writes, pictures, state, resume)
        if self.files.card is None:
            return files
        return replace(files, log=directory / CARD_LOG, logged=TRACE_EVENT)


class QemuTarget:
    """An emulated machine on this host, whatever the system file says of it."""

    fixed_machine = None

    def prepare(self, shop: Workshop, system: System, asked: BootRequest) -> QemuPrepared:
        """Make or find the files, and what the plugin is told. Raises MissingTool for a QEMU absent or too old.

        Raises InputError for files that cannot be right, and for a profile or marks under the wall clock.
        """
        binary = require_qemu(qemu_binary(system))
        expect_pages(system)
        if asked.keeps:
            expect_keepable(system)
        files = restored_files.prepare(shop, system)
        hashes = {**files.hashes, **_own_hashes(system)}
        network = read_network(system)
        hashes |= network.hashes if network is not None else {}
        sizes = sizes_of(system, files)
        if system.clock.kind is ClockKind.WALL:
            if asked.profile is not None:
                raise InputError(
                    "clock.kind: a profile counts instructions, and the wall clock has none",
                    hint='clock.kind = "virtual" in the system file',
                )
            if system.marks:
                raise InputError('marks: kernel symbols are seen under clock.kind = "virtual" only')
            accelerator, kvm = _accelerator(system, shop.cache)
            return QemuPrepared(
                system=system,
                files=files,
                hashes=hashes,
                sizes=sizes,
                runs_on=accelerator.value,
                qemu=binary,
                accelerator=accelerator,
                kvm=kvm,
                network=network,
            )
        if system.booted.console is not None and system.machine.arch != "x86_64":
            raise InputError(
                "booted.console: the virtual clock sees an x86-64 guest's console only",
                hint='let the guest say it with bootlab-mark and give booted.mark, or use clock.kind = "wall"',
            )
        plugin = find_plugin(shop)
        hashes["plugin"] = file_sha256(plugin)
        symbols = _symbols(files.vmlinux, files.symbols)
        stop = system.booted.mark if system.check is None else system.check.mark
        config = _plugin_config(system, symbols, asked.watch, stop, _stages(system, files, asked.watch))
        config += _further_lines(system) + waking_lines(system, symbols)
        hashes |= model_hash(system) | picture_hashes(system)
        profile = (
            set_up_profile(system, files, symbols, shop.cache, asked.profile) if asked.profile is not None else None
        )
        return QemuPrepared(
            system=system,
            files=files,
            hashes=hashes,
            sizes=sizes,
            runs_on=Accelerator.TCG.value,
            symbols=symbols,
            plugin_config=config,
            qemu=binary,
            accelerator=Accelerator.TCG,
            plugin=plugin,
            profile=profile,
            network=network,
        )

    def tools(self, system: System) -> dict[str, str]:
        """Return the sha256 of QEMU, of the firmware it loads and, on the virtual clock, of the plugin."""
        own = _own_hashes(system)
        return (
            own
            if system.clock.kind is ClockKind.WALL
            else {**own, "plugin": file_sha256(find_plugin(Workshop(Cache.default())))}
        )

    def telling(self, system: System) -> None:
        """Return None: its instructions are counted."""

    def lacks(self, before: System, after: System) -> str | None:
        """Return why a system with an image cannot become `after`; None for all others: any machine is emulated."""
        kernels = [(one.kernel.model_copy(update={"cmdline": ""}), one.initramfs) for one in (before, after)]
        if before.image is not None and kernels[0] != kernels[1]:
            return "kernel and initramfs are those of the image"
        return None

    def doubts(self, system: System) -> list[str]:
        """Return what makes an emulated machine depend on the host although instructions are its clock."""
        return [*inexact_disks(system), *inexact_network(system)]


def _own_hashes(system: System) -> dict[str, str]:
    hashes = {"qemu": file_sha256(require_qemu(qemu_binary(system)))}
    if (firmware := find_firmware(system)) is not None:
        hashes["firmware"] = file_sha256(firmware)
    return hashes


def _plugin_config(
    system: System, symbols: SymbolTable | None, watch: tuple[str, ...], stop: str | None, stages: list[str]
) -> str:
    if symbols is None and system.marks:
        raise InputError(
            f"marks: this kernel's symbols cannot be had, so {', '.join(system.marks)} would never be seen",
            hint="kernel.symbols names its System.map or vmlinux; or leave [marks] out",
        )
    if symbols is None:
        if system.clock.charges:
            raise InputError("clock.charges: the symbols of this kernel cannot be read, so its calls are not seen")
        if system.clock.tick_us is not None:
            raise InputError("clock.tick_us: the symbols of this kernel cannot be read, so its ticks cannot be moved")
        # A kernel whose symbols cannot be had still has its guest marks.
        lines = [arch_line(system.machine.arch, None), *stages, "guestmarks", *([f"stop {stop}"] if stop else [])]
        return "".join(f"{line}\n" for line in lines)
    known = tuple(symbol for symbol in watch if symbols.address(symbol) is not None)
    config = make_plugin_config(
        symbols, marks=system.marks, charges=system.clock.charges, watch=known, stop=stop, stages=stages
    )
    if system.clock.tick_us is not None:
        expect_ticks(config)
    return config.text


def _further_lines(system: System) -> str:
    disks = f"{CONFIG_LINE}\n{modelled_lines(system)}" if are_exact(system) else ""
    return disks + hypervisor_line(system) + charge_lines(system) + screen_lines(system)


def _stages(system: System, files: BootFiles, watch: tuple[str, ...]) -> list[str]:
    if system.image is not None:
        return image_stage_lines(files, find_option_rom(system))
    if system.board is None:
        return []
    spl, uboot = (None if path is None else Firmware(path) for path in (files.spl, files.uboot))
    opensbi = None if files.opensbi is None else LoadedFile(files.opensbi.read_bytes(), (files.opensbi_at,))
    return stage_lines(spl, opensbi, uboot, LoadedFile(files.kernel.read_bytes(), system.kernel_places), watch)


@lru_cache
def _accelerator_for(cpu: str, cache: Cache) -> tuple[bool, str]:
    probe = probe_kvm(cpu, cache)
    return probe.works, probe.reason


def _accelerator(system: System, cache: Cache) -> tuple[Accelerator, str]:
    wanted = system.clock.accelerator
    if wanted is Accelerator.TCG:
        return wanted, _NOT_ASKED_FOR
    host = platform.machine()
    if system.machine.arch == host:
        works, reason = _accelerator_for(system.machine.cpu, cache)
    else:
        works, reason = False, f"this host is {host}, the system's machine is {system.machine.arch}"
    if wanted is Accelerator.KVM and not works:
        raise MissingTool(
            f'clock.accelerator = "kvm": KVM does not run guests here: {reason}',
            hint='clock.kind = "virtual" needs no KVM; clock.accelerator = "tcg" measures emulation, not speed',
        )
    return (Accelerator.KVM if works else Accelerator.TCG), reason


@lru_cache(maxsize=8)
def _symbols(vmlinux: Path | None, given: Path | None) -> SymbolTable | None:
    if given is None:
        return read_symbols(vmlinux) if vmlinux is not None else None
    # An image that cannot be unpacked here is believed to be of the same build.
    return read_kernel_symbols(given, vmlinux) if vmlinux is not None else read_symbols(given)
