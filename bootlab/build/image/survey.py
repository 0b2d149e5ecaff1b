"""Looks through a disk image for what it would boot: by BIOS and by UEFI, through which loader, with which words.

The kernel, the initramfs and the EFI programs that are found are kept as files of a folder.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from bootlab.build.formats.el_torito import grub_code
from bootlab.build.formats.first_sector import disk_code, hybrid_code, is_grub
from bootlab.build.formats.partitions import ESP, XBOOTLDR
from bootlab.build.image import boot_entries, loader_text, systemd_boot
from bootlab.build.image.boot_entries import BootEntry, BootMenu
from bootlab.build.image.contents import (
    BIOS,
    UEFI,
    Chain,
    ImageContents,
    LoadedProgram,
    LoaderText,
    PartitionFound,
    describe_partitions,
)
from bootlab.build.image.efi_program import EfiProgram, parse_efi_program
from bootlab.build.image.image_file import EFI, ISO, ImageFile
from bootlab.build.image.reading import ImageReader, Volume
from bootlab.build.root import archive_check
from bootlab.errors import InputError

_LARGEST_PROGRAM = 1 << 30
_CD_PROGRAM = 4096
"""As much of what BIOS starts from a CD as tells GRUB from others."""
_EFI_NAMES = {"bootx64.efi": "x86_64", "bootaa64.efi": "aarch64", "bootia32.efi": "i386", "bootriscv64.efi": "riscv64"}
_BOOTED = ("bootx64.efi", "bootaa64.efi")
"""What is booted of those, the first one that is there."""
_MENUS = ("boot/grub/grub.cfg", "boot/grub2/grub.cfg", "grub/grub.cfg", "grub2/grub.cfg")
_ENTRY_FOLDERS = ("loader/entries", "boot/loader/entries")
_ROOTS = ("", "@/", "root/", "@rootfs/")
"""Where a root begins in its file system: btrfs' is a subvolume in openSUSE, Fedora and Debian."""
_MAKERS = (
    ("conf/initramfs.conf", "initramfs-tools"),
    ("scripts/init-top", "initramfs-tools"),
    ("usr/lib/dracut", "dracut"),
    ("lib/dracut", "dracut"),
    ("buildconfig", "mkinitcpio"),
    ("usr/lib/initcpio", "mkinitcpio"),
)


def survey_image(image: ImageFile, out: Path) -> ImageContents:
    """Return what an image holds; the files that it names are written into the folder `out`.

    Raises InputError for one that cannot boot, MissingTool (grub-common, qemu-utils).
    """
    return _survey_program(image, out) if image.format == EFI else _survey_disk(image, out)


def _survey_disk(image: ImageFile, out: Path) -> ImageContents:
    with ImageReader(image, out.parent) as reader:
        return _Survey(image, reader, out).contents()


def _survey_program(image: ImageFile, out: Path) -> ImageContents:
    if image.bytes > _LARGEST_PROGRAM:
        raise InputError(f"{image.path}: begins as an EFI program, and is larger than {_LARGEST_PROGRAM >> 30} GiB")
    data = image.path.read_bytes()
    try:
        program = parse_efi_program(data)
    except InputError as error:
        raise InputError(f"{image.path}: {error.message}", hint="copy or download it again") from error
    if program.kind != "UKI":
        raise InputError(
            f"{image.path}: an EFI program ({program.kind}), and no unified kernel image",
            hint="a UKI has a kernel in a section .linux; a kernel by itself is kernel.image of a system file",
        )
    if program.arch not in (_EFI_NAMES[name] for name in _BOOTED):
        raise InputError(f"{image.path}: a UKI of {program.arch}, and bootlab boots images of x86_64 and aarch64")
    (out / "program.efi").write_bytes(data)
    found = LoadedProgram(kind="UKI", version=program.version, path=image.path.name, file="program.efi")
    chain = _keep_uki(program, found, out)
    return ImageContents(
        format=EFI, bytes=len(data), scheme="", partitions=(), arch=program.arch, chains={UEFI: chain},
        os_name=_pretty_name(program.sections[".osrel"].content) if ".osrel" in program.sections else "",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _MenuItem:
    """An entry of systemd-boot's menu and the volume that it is on; `uki`: the program, where it is one."""

    entry: BootEntry
    volume: Volume
    uki: tuple[LoadedProgram, EfiProgram] | None = None


class _Survey:
    def __init__(self, image: ImageFile, reader: ImageReader, out: Path) -> None:
        self._image = image
        self._reader = reader
        self._out = out
        self._readable = [volume for volume in reader.volumes if volume.readable]
        self._names = iter(range(1 << 20))

    def contents(self) -> ImageContents:
        table = self._reader.table
        esp = next((one for one in self._readable if one.partition.type == ESP), None)
        esp = esp or next((one for one in self._readable if self._efi_programs(one)), None)
        chains = dict(filter(None, (self._by_uefi(esp), self._by_bios())))
        contents = ImageContents(
            format=self._image.format,
            bytes=self._image.bytes,
            scheme=table.scheme if table is not None else "",
            partitions=tuple(
                PartitionFound(number=one.partition.number, kind=one.kind, bytes=one.partition.size, is_esp=one is esp)
                for one in self._reader.volumes
            ),
            os_name=self._os_name(),
            chains=chains,
            arch="aarch64" if UEFI in chains and not self._is_x86(esp, chains) else "x86_64",
            **self._boot_code(),
        )
        self._expect_bootable(contents, esp)
        return contents

    def _is_x86(self, esp: Volume | None, chains: dict[str, Chain]) -> bool:
        names = {name.lower() for name in self._efi_programs(esp)} if esp is not None else set()
        return BIOS in chains or _BOOTED[0] in names

    def _expect_bootable(self, contents: ImageContents, esp: Volume | None) -> None:
        path, found = self._image.path, describe_partitions(contents)
        encrypted = next((one for one in self._reader.volumes if one.kind in ("LUKS", "BitLocker")), None)
        if encrypted is not None and not contents.os_name:
            raise InputError(
                f"{path}: its root is encrypted ({encrypted.kind}, partition {encrypted.partition.number}): nobody is "
                "there to type the passphrase, and what it boots cannot be read",
                hint="an image with a root in the open boots; it has " + found,
            )
        if not contents.chains:
            others = self._efi_programs(esp) if esp is not None else {}
            if others:
                arch = ", ".join(sorted({_EFI_NAMES[name.lower()] for name in others}))
                raise InputError(
                    f"{path}: boots by UEFI of {arch} alone, and bootlab boots images of x86_64 and aarch64"
                )
            if self._image.format == ISO:
                raise InputError(
                    f"{path}: what its El Torito catalogue has firmware start is no loader that is known here",
                    hint="GRUB is, for BIOS; and for UEFI an EFI/BOOT/BOOTX64.EFI. isolinux is not",
                )
            raise InputError(
                f"{path}: nothing on it boots: its first sector has no code, and there is no EFI/BOOT/BOOTX64.EFI",
                hint=f"a bootloader was not installed, or this is no system's disk; it has {found}",
            )
        if not any(chain.kernel for chain in contents.chains.values()):
            how = "; ".join(f"by {key.upper()}: {_without_kernel(chain)}" for key, chain in contents.chains.items())
            raise InputError(
                f"{path}: no kernel found that its bootloader would boot ({how}); it has {found}",
                hint="ext4, FAT, btrfs, XFS and what else GRUB reads is looked into, and neither LVM nor LUKS",
            )

    def _by_bios(self) -> tuple[str, Chain] | None:
        with self._reader.disk.open("rb") as file:
            if self._image.format == ISO:
                starts = self._cd_code(file) is not None
            else:
                # Every GPT disk of some tools has code that only says that it does not boot.
                starts = self._reader.table is not None and self._reader.table.boots_by_bios and is_grub(file)
        return (BIOS, self._grub_chain("GRUB", ())) if starts else None

    def _by_uefi(self, esp: Volume | None) -> tuple[str, Chain] | None:
        names = self._efi_programs(esp) if esp is not None else {}
        by_name = {name.lower(): path for name, path in names.items()}
        path = next((by_name[name] for name in _BOOTED if name in by_name), None)
        if esp is None or path is None:
            return None
        program = self._keep_program(esp, path)
        if program is None:
            return None
        kept, parsed = program
        programs = [kept]
        if kept.kind == "UKI":
            return UEFI, _keep_uki(parsed, kept, self._out)
        grub = "grubaa64.efi" if parsed.arch == "aarch64" else "grubx64.efi"
        if kept.kind == "shim" and (second := self._keep_program(esp, f"{path.rpartition('/')[0]}/{grub}")):
            programs.append(second[0])
        if kept.kind == "systemd-boot":
            return UEFI, self._systemd_boot(esp, kept)
        loader = " + ".join(one.kind for one in programs)
        if any(one.kind in ("GRUB", "shim") for one in programs):
            return UEFI, self._grub_chain(loader, tuple(programs))
        return UEFI, Chain(loader=loader, programs=tuple(programs))

    def _systemd_boot(self, esp: Volume, kept: LoadedProgram) -> Chain:
        wait_s, default = systemd_boot.parse_loader_conf(self._text(esp, "loader/loader.conf") or "")
        bare = Chain(loader=kept.kind, programs=(kept,), wait_s=wait_s)
        found: list[_MenuItem] = []
        for volume in [esp, *(one for one in self._readable if one.partition.type == XBOOTLDR)]:
            found += [_MenuItem(entry, volume) for entry in self._entry_files(volume, "loader/entries", {})]
            ukis, unusable = self._ukis(volume)
            found += ukis
            bare = bare.model_copy(update={"unusable": (*bare.unusable, *unusable)})
        order = systemd_boot.in_menu_order([one.entry for one in found])
        menu = BootMenu(tuple(order), wait_s, systemd_boot.find_default(order, default))
        chosen = next((one for one in found if one.entry is menu.chosen), None)
        if chosen is None:
            return bare
        told: dict[str, object] = {"unusable": bare.unusable, "wait_s": wait_s}
        if chosen.uki is not None:
            program, parsed = chosen.uki
            told |= {"loader": f"{kept.kind} + UKI", "programs": (kept, program)}
            return _keep_uki(parsed, program, self._out).model_copy(update=told)
        path = f"loader/entries/{chosen.entry.file}.conf"
        told["texts"] = (
            LoaderText(partition=esp.partition.number, path="loader/loader.conf", kind=loader_text.LOADER_CONF),
            LoaderText(partition=chosen.volume.partition.number, path=path, kind=loader_text.ENTRY),
        )
        return self._chain(kept.kind, menu, (kept,)).model_copy(update=told)

    def _ukis(self, volume: Volume) -> tuple[list["_MenuItem"], list[str]]:
        """Return the UKIs of a volume, and in words what else is there, which systemd-boot does not show either."""
        found, unusable = list[_MenuItem](), list[str]()
        for name in self._reader.list_folder(volume, "EFI/Linux")[0]:
            if not name.lower().endswith(".efi"):
                continue
            try:
                program = self._keep_program(volume, path := f"EFI/Linux/{name}")
            except InputError as error:
                unusable.append(error.message.removeprefix(f"{self._image.path}: "))
                continue
            if program is None or program[0].kind != "UKI":
                unusable.append(f"/{path}: no kernel in it")
            else:
                found.append(_MenuItem(systemd_boot.uki_entry(program[1], name), volume, program))
        return found, unusable

    def _chain(self, loader: str, menu: BootMenu, programs: tuple[LoadedProgram, ...]) -> Chain:
        chosen = menu.chosen
        chain = Chain(loader=loader, programs=programs, wait_s=menu.wait_s)
        if chosen is None:
            return chain
        kernel = self._keep(chosen.kernel, "kernel")
        found = {path: self._place(path) for path in chosen.initrds}
        places = list(filter(None, found.values()))
        archive = b"".join(self._reader.read(volume, path) or b"" for volume, path in places)
        initramfs = self._keep_bytes(archive, "initramfs") if archive else ""
        return chain.model_copy(
            update={
                "title": chosen.title,
                "kernel_path": chosen.kernel,
                "words": chosen.words,
                "kernel": kernel,
                "initramfs": initramfs,
                "initramfs_maker": _maker(archive),
                "initramfs_place": _one_file(places),
                "missing": tuple(path for path, place in found.items() if place is None),
            }
        )

    def _grub_chain(self, loader: str, programs: tuple[LoadedProgram, ...]) -> Chain:
        menu, texts = self._grub_menu()
        return self._chain(loader, menu, programs).model_copy(update={"texts": texts})

    def _grub_menu(self) -> tuple[BootMenu, tuple[LoaderText, ...]]:
        for volume, path, text in self._grub_texts():
            folder = path.rpartition("/")[0]
            environment = boot_entries.parse_grub_environment(self._text(volume, f"{folder}/grubenv") or "")
            menu = boot_entries.parse_grub_menu(text, environment)
            texts = [LoaderText(partition=volume.partition.number, path=path, kind=loader_text.GRUB)]
            if menu.reads_entries:
                places = {
                    entry.identity: (LoaderText(partition=other.partition.number, path=f"{place}/{entry.file}.conf",
                                                kind=loader_text.ENTRY), entry)
                    for other in self._readable
                    for place in _ENTRY_FOLDERS
                    for entry in self._entry_files(other, place, menu.variables)
                }  # fmt: skip
                found = boot_entries.newest_first([entry for _, entry in places.values()])
                menu = BootMenu((*found, *menu.entries), menu.wait_s, menu.default)
                if menu.chosen is not None and menu.chosen.identity in places:
                    texts.append(places[menu.chosen.identity][0])
            if menu.entries:
                return menu, tuple(texts)
        return BootMenu(), ()

    def _grub_texts(self) -> Iterator[tuple[Volume, str, str]]:
        for volume in self._readable:
            folders = [f"EFI/{name}/grub.cfg" for name in self._reader.list_folder(volume, "EFI")[1]]
            for path in [*(root + menu for root in _ROOTS for menu in _MENUS), *folders]:
                if (text := self._text(volume, path)) is not None:
                    yield volume, path, text

    def _entry_files(self, volume: Volume, place: str, variables: object) -> Iterator[BootEntry]:
        for name in self._reader.list_folder(volume, place)[0]:
            text = self._text(volume, f"{place}/{name}") if name.endswith(".conf") else None
            if text is not None:
                known = variables if isinstance(variables, dict) else {}
                entry = boot_entries.parse_entry(text, name.removesuffix(".conf"), known)
                if entry.kernel:
                    yield entry

    def _efi_programs(self, volume: Volume) -> dict[str, str]:
        # FAT does not tell EFI/BOOT from efi/boot, and neither does GRUB's reader.
        names = self._reader.list_folder(volume, "EFI/BOOT")[0] if volume.kind == "FAT" else []
        return {name: f"EFI/BOOT/{name}" for name in names if name.lower() in _EFI_NAMES}

    def _keep_program(self, volume: Volume, path: str) -> tuple[LoadedProgram, EfiProgram] | None:
        data = self._reader.read(volume, path)
        if data is None:
            return None
        try:
            parsed = parse_efi_program(data)
        except InputError as error:
            raise InputError(f"{self._image.path}: /{path}: {error.message}") from error
        name = self._keep_bytes(data, "program")
        return LoadedProgram(kind=parsed.kind, version=parsed.version, path=f"/{path}", file=name), parsed

    def _place(self, path: str) -> tuple[Volume, str] | None:
        for volume in self._readable:
            for root in _ROOTS:
                if self._reader.read(volume, place := root + path.lstrip("/")) is not None:
                    return volume, place
        return None

    def _keep(self, path: str, what: str) -> str:
        place = self._place(path)
        data = self._reader.read(*place) if place is not None else None
        return "" if data is None else self._keep_bytes(data, what)

    def _keep_bytes(self, data: bytes, what: str) -> str:
        return _kept(self._out, data, what)

    def _text(self, volume: Volume, path: str) -> str | None:
        data = self._reader.read(volume, path)
        return None if data is None else data.decode(errors="replace")

    def _os_name(self) -> str:
        for volume in self._readable:
            for root in _ROOTS:
                for path in ("usr/lib/os-release", "etc/os-release"):
                    if (data := self._reader.read(volume, root + path)) is not None:
                        return _pretty_name(data)
        return ""

    def _boot_code(self) -> dict[str, str]:
        with self._reader.disk.open("rb") as file:
            if self._image.format == ISO:
                places = (
                    ("cd_code", "cd_core_code", self._cd_code(file)),
                    ("boot_code", "core_code", hybrid_code(file)),
                )
                return {name: text for *names, told in places if told for name, text in zip(names, told, strict=True)}
            if self._reader.table is None or not self._reader.table.boots_by_bios:
                return {}
            boot, core = disk_code(file)
            return {"boot_code": boot, "core_code": core}

    def _cd_code(self, file: BinaryIO) -> tuple[str, str] | None:
        programs = self._reader.boot_programs
        if programs is None or programs.bios is None:
            return None
        file.seek(programs.bios[0])
        return grub_code(file.read(_CD_PROGRAM))


def _keep_uki(program: EfiProgram, kept: LoadedProgram, out: Path) -> Chain:
    sections = program.sections
    archive = sections[".initrd"].content if ".initrd" in sections else b""
    words = sections[".cmdline"].content.rstrip(b"\0\n").decode(errors="replace") if ".cmdline" in sections else ""
    return Chain(
        loader="UKI",
        programs=(kept,),
        title=kept.path,
        kernel_path=f"{kept.path}:.linux",
        words=words,
        kernel=_kept(out, sections[".linux"].content, "kernel"),
        initramfs=_kept(out, archive, "initramfs") if archive else "",
        initramfs_maker=_maker(archive),
    )


def _without_kernel(chain: Chain) -> str:
    if not chain.kernel_path:
        return f"{chain.loader}, no entry of a menu{chain.unusable_words}"
    return f"{chain.loader}, whose entry {chain.title!r} names {chain.kernel_path!r}, which is not there"


def _one_file(places: list[tuple[Volume, str]]) -> LoaderText | None:
    if len(places) != 1:
        return None
    ((volume, path),) = places
    return LoaderText(partition=volume.partition.number, path=path, kind=loader_text.INITRAMFS)


def _kept(out: Path, data: bytes, what: str) -> str:
    # Of what both firmwares boot there is one file.
    for path in sorted(out.glob(f"{what}*")):
        if path.stat().st_size == len(data) and path.read_bytes() == data:
            return path.name
    name = f"{what}-{len(list(out.glob(f'{what}*')))}"
    (out / name).write_bytes(data)
    return name


def _maker(archive: bytes) -> str:
    try:
        entries = archive_check.entries(archive) if archive else None
    except InputError:
        entries = None
    paths = {entry.path.removeprefix("./") for entry in entries or ()}
    return next((maker for path, maker in _MAKERS if path in paths), "")


def _pretty_name(os_release: bytes) -> str:
    for line in os_release.decode(errors="replace").splitlines():
        name, _, value = line.partition("=")
        if name == "PRETTY_NAME":
            return value.strip().strip("\"'")
    return ""
