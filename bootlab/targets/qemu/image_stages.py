"""What the plugin is told of the stages before an image's kernel, from the files that the machine boots from."""

from bootlab.build.image.efi_program import parse_efi_program
from bootlab.errors import InputError
from bootlab.profile.asked.pc_stages import EntryPoint, bios_lines, uefi_lines
from bootlab.symbols.firmware_volume import list_firmware_programs
from bootlab.system import BootFiles


def image_stage_lines(files: BootFiles) -> list[str]:
    """Return the lines of the plugin's config for the chain that leads to the image's kernel."""
    kernel = files.kernel.read_bytes()
    if files.firmware is None:
        return bios_lines(bytes.fromhex(files.boot_code), bytes.fromhex(files.core_code), kernel)
    loaders = [parse_efi_program(path.read_bytes()) for path in files.loaders]
    try:
        program = parse_efi_program(kernel)
        stub = EntryPoint(program.entry, program.code)
    except InputError:
        # CONFIG_EFI_STUB=n: GRUB can start it all the same.
        stub = None
    firmware = list_firmware_programs(files.firmware.read_bytes())
    return uefi_lines(firmware, [EntryPoint(one.entry, one.code) for one in loaders], kernel, stub)
