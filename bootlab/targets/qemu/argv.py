"""System -> QEMU command line; a pure function, golden-tested.

Everything that makes a virtual boot repeat exactly is here: one TCG thread, instruction-counted time that jumps over
idle, a fixed real-time clock, a seed for every random number the guest can read, and no device not asked for.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from bootlab.network.addresses import GUEST_MAC, mac_words
from bootlab.snapshot.identity import FILE_NAME
from bootlab.system import (
    Accelerator,
    Attachment,
    Board,
    BootFiles,
    ClockKind,
    MachineType,
    PageSize,
    System,
    add_words,
)
from bootlab.system.shape import shape_properties
from bootlab.targets.qemu.exact_devices import device_options, machine_options, modelled_options
from bootlab.targets.qemu.huge_pages import wanted_pages
from bootlab.targets.qemu.wiring import Identity, MemoryFile, Overlays, Wiring

RTC_BASE = "2024-01-01T00:00:00"
"""The date in the guest's real-time clock at power-on. Any fixed one does."""
_BETWEEN_LIVES = timedelta(hours=1)
"""How much later than a life before a disk image's machine is switched on again."""

NETDEV = "net0"
"""QEMU's name for the guest's wire."""
_PMEM_ROOM_MIB = 1 << 16
_DISK_DRIVERS = {
    Attachment.VIRTIO: "virtio-blk-{transport}",
    Attachment.SCSI: "scsi-hd",
    Attachment.CD: "scsi-cd",
    Attachment.NVME: "nvme",
    Attachment.AHCI: "ide-hd",
    Attachment.USB: "usb-storage",
}
_CONTROLLERS = {Attachment.SCSI: "virtio-scsi-{transport}", Attachment.CD: "virtio-scsi-{transport}"}
_ROOT_ATTACHED = {"nvme": Attachment.NVME, "scsi": Attachment.SCSI}
_BINARY = {
    "x86_64": "qemu-system-x86_64",
    "aarch64": "qemu-system-aarch64",
    "armv7": "qemu-system-arm",
    "riscv64": "qemu-system-riscv64",
}


def bare_argv(system: System) -> list[str]:
    """Return the command line of the system's machine alone, nothing plugged in: its device tree follows from it."""
    argv = [qemu_binary(system), "-nodefaults", "-no-user-config", "-display", "none"]
    return [*argv, *_machine(system, Wiring(Path())), *_clock(system, Accelerator.TCG)]


def qemu_binary(system: System) -> str:
    """Return the name of the QEMU program for the system's architecture."""
    return _BINARY[system.machine.arch]


def qemu_argv(system: System, files: BootFiles, wiring: Wiring) -> list[str]:
    """Return the QEMU command line of one boot. The machine waits for QMP `cont` before its first instruction."""
    argv = [qemu_binary(system), "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-S"]
    argv += _machine(system, wiring)
    argv += _clock(system, wiring.accelerator)
    argv += ["-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"]
    argv += ["-qmp", f"unix:{escaped(wiring.qmp_socket)},server=on,wait=off"]
    if system.image is not None:
        argv += _image(system, files, lasting=wiring.lasting)
    elif system.board is None:
        argv += _kernel(system, files, wiring.words)
    else:
        argv += _board(system.board, files, wiring.written)
    if wiring.device_tree is not None:
        argv += ["-dtb", str(wiring.device_tree)]
    if any("audiodev=none" in device for device in system.machine.devices):
        # A sound card wants something to play to, and there is no default.
        argv += ["-audiodev", "none,id=none"]
    for device in system.machine.devices:
        argv += ["-device", device]
    argv += _disks(system, files, wiring.written)
    argv += _identity(system, wiring.identity)
    argv += _network(system, wiring)
    if wiring.plugin is not None:
        plugin = wiring.plugin
        words = f"{escaped(plugin.plugin)},config={escaped(plugin.config)},out={escaped(plugin.out)}"
        for option in ("profile", "requests", "writes", "pictures", "state", "resume"):
            if (path := getattr(plugin, option)) is not None:
                words += f",{option}={escaped(path)}"
        argv += ["-plugin", words]
        if plugin.log is not None:
            # A file name and no option: QEMU only looks for a %d in it.
            argv += ["-d", "plugin", "-D", str(plugin.log).replace("%", "%%"), "-trace", plugin.logged]
    if wiring.snapshot is not None and wiring.snapshot.incoming:
        argv += ["-incoming", "defer"]
    return argv


def _kernel(system: System, files: BootFiles, more: str) -> list[str]:
    return _loaded(files, add_words(_cmdline(system), more))


def _loaded(files: BootFiles, words: str) -> list[str]:
    argv = ["-kernel", str(files.kernel)]
    if files.initramfs is not None:
        argv += ["-initrd", str(files.initramfs)]
    if words:
        argv += ["-append", words]
    return argv


def _cmdline(system: System) -> str:
    kept, words = system.rootfs.kept_ram if system.rootfs is not None else None, system.started_kernel.cmdline
    return words if kept is None else add_words(words, kept.word(system.memory_at))


def _image(system: System, files: BootFiles, *, lasting: bool) -> list[str]:
    assert system.image is not None and files.image is not None
    passing = "" if lasting else ",snapshot=on"
    argv: list[str] = []
    if files.firmware is not None and files.firmware_variables is not None:
        code, variables = escaped(files.firmware), escaped(files.firmware_variables)
        argv += ["-drive", f"if=pflash,format=raw,unit=0,readonly=on,file={code}"]
        argv += ["-drive", f"if=pflash,format=raw,unit=1{passing},file={variables}"]
    if system.image.loader == "direct":
        argv += _loaded(files, files.words)
    if files.image_format == "efi":
        # A program that UEFI starts as it starts any it is given.
        return [*argv, "-kernel", str(files.image)]
    attach = system.image.attach
    controller = _CONTROLLERS.get(attach, "").format(transport=_transport(system))
    if controller:
        argv += _device(system, controller, ",id=image-controller")
    if attach is Attachment.CD:
        passing = ",media=cdrom,readonly=on"
    argv += ["-drive", f"if=none,id=image,format={files.image_format}{passing},file={escaped(files.image)}"]
    # What QEMU loads itself is first, and two cannot be.
    is_first = system.image.order and system.image.loader != "direct"
    words = ",drive=image,serial=image" + (",bootindex=0" if is_first else "")
    if controller:
        words += ",bus=image-controller.0"
    driver = _DISK_DRIVERS[attach].format(transport=_transport(system))
    options = None if system.image.model is None else modelled_options(system.image.model, driver)
    return [*argv, *_device(system, driver, words, options)]


def _board(board: Board, files: BootFiles, written: Overlays | None) -> list[str]:
    # A board gets nothing but what its boot ROM and bootloader read from its medium.
    if board.flash is None:
        assert files.card is not None
        return ["-drive", f"if=sd,{_medium(files.card, written, written.paths[0] if written is not None else None)}"]
    assert files.flash is not None and files.firmware is not None
    chip = f"if=pflash,unit={board.flash.unit},format=raw,snapshot=on,file={escaped(files.flash)}"
    return ["-bios", str(files.firmware), "-drive", chip]


def _machine(system: System, wiring: Wiring) -> list[str]:
    machine, snapshot = system.machine, wiring.snapshot
    options = "".join(f",{key}={value}" for key, value in machine.options.items())
    argv = []
    if machine.secure_boot:
        # Only code in SMM may write to the chip with the firmware's variables.
        options += ",smm=on"
        argv += ["-global", "driver=cfi.pflash01,property=secure,value=on"]
    if machine.firmware_build is not None:
        # Room for volumes that are not compressed. The guest is not told.
        options += ",max-fw-size=16M"
    if (pages := wanted_pages(system)) is not PageSize.AUTO:
        # Both sizes are files in memory, touched when the guest touches them and never merged: only the page differs.
        # QEMU asks for huge pages everywhere, but the host gives none to a memory file (huge_pages.py).
        huge = "on,hugetlbsize=2M" if pages is PageSize.HUGE else "off"
        argv += [
            "-object",
            f"memory-backend-memfd,id=ram,size={machine.memory_mib}M,hugetlb={huge},prealloc=off,merge=off",
        ]
        options += ",memory-backend=ram"
    if snapshot is not None and snapshot.ram is not None:
        # Of a clone each page that it writes becomes its own, and the file stays as it is.
        argv += _memory_file(system, MemoryFile(snapshot.ram, shared=not snapshot.incoming))
        options += ",memory-backend=ram"
    if wiring.memory is not None:
        argv += _memory_file(system, wiring.memory)
        options += ",memory-backend=ram"
    memory = str(machine.memory_mib)
    if uses_pmem(system):
        options += ",nvdimm=on"
        # Of the room for memory that is not there from the start; it costs nothing.
        memory += f",slots=1,maxmem={machine.memory_mib + _PMEM_ROOM_MIB}M"
    argv += ["-machine", f"{machine.type.value}{options}", "-cpu", machine.cpu]
    argv += ["-m", memory, "-smp", str(machine.vcpus)]
    if machine.firmware == "qboot":
        argv += ["-bios", "qboot.rom"]
    elif machine.firmware not in ("default", "ovmf"):
        argv += ["-bios", machine.firmware]
    if machine.boot_menu_s is not None:
        argv += ["-boot", f"menu=on,splash-time={machine.boot_menu_s * 1000}"]
    for words in shape_properties(machine.shape):
        argv += ["-global", words]
    return argv


def _memory_file(system: System, memory: MemoryFile) -> list[str]:
    backend = f"memory-backend-file,id=ram,size={system.machine.memory_mib}M,mem-path={escaped(memory.path)}"
    return ["-object", f"{backend},share={'on' if memory.shared else 'off'}"]


def _clock(system: System, accelerator: Accelerator) -> list[str]:
    if system.clock.kind is ClockKind.VIRTUAL:
        return [
            "-accel", "tcg,thread=single",
            "-icount", f"shift={system.clock.shift},sleep=off",
            "-rtc", f"base={_date(system).isoformat()},clock=vm",
            "-seed", str(system.seed),
        ]  # fmt: skip
    return [
        "-accel",
        accelerator.value,
        "-rtc",
        f"base={_date(system).isoformat()},clock=vm",
        "-seed",
        str(system.seed),
    ]


def _date(system: System) -> datetime:
    lives_before = system.image.life - 1 if system.image is not None else 0
    return datetime.fromisoformat(RTC_BASE) + lives_before * _BETWEEN_LIVES


def clock_s(system: System) -> int:
    """Return what the guest's clock shows at power-on, in s since 1970."""
    return int(_date(system).replace(tzinfo=UTC).timestamp())


def _disks(system: System, files: BootFiles, written: Overlays | None) -> list[str]:
    argv: list[str] = []
    overlays = iter(written.paths if written is not None and system.board is None else ())
    controllers: set[str] = set()
    paths = list(files.disks)
    disks = [(f"disk{index}", disk.serial, disk.attach) for index, disk in enumerate(system.disks)]
    if system.rootfs is not None:
        disks.insert(0, ("rootfs", "rootfs", _ROOT_ATTACHED.get(system.rootfs.device, Attachment.VIRTIO)))
    transport = _transport(system)
    for (name, serial, attach), path in zip(disks, paths, strict=True):
        if name == "rootfs" and uses_pmem(system):
            argv += _nvdimm(path)
            continue
        controller = _CONTROLLERS.get(attach, "").format(transport=transport)
        if controller and controller not in controllers:
            controllers.add(controller)
            argv += _device(system, controller, "")
        argv += ["-drive", f"if=none,id={name},{_medium(path, written, next(overlays, None))}"]
        driver = _DISK_DRIVERS[attach].format(transport=transport)
        model = system.modelled_disks.get(name)
        options = None if model is None else modelled_options(model, driver)
        argv += _device(system, driver, f",drive={name},serial={serial}", options)
    return argv


def _medium(path: Path, written: Overlays | None, overlay: Path | None) -> str:
    if written is None or overlay is None:
        return f"format=raw,snapshot=on,file={escaped(path)}"
    # The file below is named here, and not in the overlay: it may lie elsewhere by now.
    below = f"backing.driver=raw,backing.file.driver=file,backing.file.filename={escaped(path)}"
    words = f"snapshot={'off' if written.kept else 'on'}{',copy-on-read=on' if written.reads else ''}"
    return f"format=qcow2,{words},file={escaped(overlay)},{below}"


def _identity(system: System, identity: Identity | None) -> list[str]:
    if identity is None:
        return []
    argv = ["-fw_cfg", f"name={FILE_NAME},file={escaped(identity.file)}"]
    if system.machine.type in (MachineType.Q35, MachineType.PC):
        # QEMU 10 has the device for these alone.
        argv += ["-device", f"vmgenid,guid={identity.generation}"]
    return argv


def _device(system: System, driver: str, words: str, options: str | None = None) -> list[str]:
    if system.clock.kind is not ClockKind.VIRTUAL:
        return ["-device", f"{driver}{words}"]
    if options is None:
        options = device_options(driver)
    return [*machine_options(driver), "-device", f"{driver}{words}{',' if options else ''}{options}"]


def uses_pmem(system: System) -> bool:
    """Return whether the root file system lies in an NVDIMM."""
    return system.rootfs is not None and system.rootfs.device == "pmem"


def _nvdimm(path: Path) -> list[str]:
    # Not shared: what the guest writes stays in this process's memory, as snapshot=on does for disks.
    backend = f"memory-backend-file,id=rootfs,mem-path={escaped(path)},size={path.stat().st_size},share=off"
    return ["-object", backend, "-device", "nvdimm,memdev=rootfs"]


def _network(system: System, wiring: Wiring) -> list[str]:
    if system.network is None:
        return []
    host_port = wiring.host_port
    rom = "" if system.network.option_rom or _transport(system) == "device" else ",romfile="
    if wiring.wire is not None:
        netdev = ["-netdev", f"stream,id={NETDEV},server=off,addr.type=fd,addr.str={wiring.wire}"]
        words = f",netdev={NETDEV},mac={mac_words(GUEST_MAC)}{rom}"
        return [*netdev, *_device(system, f"virtio-net-{_transport(system)}", words)]
    forward = ""
    if system.network.guest_port is not None and host_port is not None:
        forward = f",hostfwd=tcp:127.0.0.1:{host_port}-:{system.network.guest_port}"
    card = f"virtio-net-{_transport(system)},netdev={NETDEV}{rom}"
    return ["-netdev", f"user,id={NETDEV}{forward}", "-device", card]


def _transport(system: System) -> str:
    # microvm has no PCI bus unless asked for; its virtio devices sit on virtio-mmio slots.
    if system.machine.type is MachineType.MICROVM and system.machine.options.get("pcie") != "on":
        return "device"
    return "pci"


def escaped(path: Path) -> str:
    """Return a path as a value of QEMU's options has it: one ends at a comma, and a doubled comma is a literal one."""
    return str(path).replace(",", ",,")
