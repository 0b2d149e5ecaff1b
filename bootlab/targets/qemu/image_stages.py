"""What the plugin is told of the stages before an image's kernel, from the files that the machine boots from."""

from pathlib import Path

from bootlab.build.image.efi_program import EfiProgram, parse_efi_program
from bootlab.errors import InputError
from bootlab.profile.asked.pc_stages import EntryPoint, bios_lines, program_lines, uefi_lines
from bootlab.symbols.firmware_volume import list_firmware_programs
from bootlab.system import BootFiles
from bootlab.targets.qemu.option_rom import option_rom_lines


def image_stage_lines(files: BootFiles, option_rom: Path | None) -> list[str]:
    """Return the lines of the plugin's config for the chain that leads to the image's kernel, and a card's ROM."""
    kernel = files.kernel.read_bytes()
    rom = [] if option_rom is None else option_rom_lines(option_rom.read_bytes())
    if files.firmware is None:
        boot_code, core_code = (bytes.fromhex(code) for code in (files.boot_code, files.core_code))
        return [*bios_lines(boot_code, core_code, kernel, files.core_at), *rom]
    firmware = list_firmware_programs(files.firmware.read_bytes())
    return [*uefi_lines(firmware, _loaders(files), kernel, _stub(files)), *rom]


def image_program_lines(files: BootFiles) -> list[str]:
    """Return a profile's lines for the firmware's programs and those that it starts; none where BIOS does."""
    if files.firmware is None:
        return []
    stub = _stub(files)
    started = [*_loaders(files), *([] if stub is None else [stub])]
    return program_lines(list_firmware_programs(files.firmware.read_bytes()), started)


def _loaders(files: BootFiles) -> list[EntryPoint]:
    return [_entry(parse_efi_program(path.read_bytes())) for path in files.loaders]


def _stub(files: BootFiles) -> EntryPoint | None:
    try:
        return _entry(parse_efi_program(files.kernel.read_bytes()))
    except InputError:
        # CONFIG_EFI_STUB=n: GRUB can start it all the same.
        return None


def _entry(program: EfiProgram) -> EntryPoint:
    return EntryPoint(program.entry, program.code, program.kind, program.size)
