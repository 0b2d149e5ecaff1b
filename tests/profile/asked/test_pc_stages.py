"""The plugin's config for what runs before the kernel of a PC's disk."""

from bootlab.profile.asked.pc_stages import EntryPoint, bios_lines, program_lines, rom_lines, uefi_lines
from bootlab.symbols.firmware_volume import FirmwareProgram, ProgramKind
from tests.build.image.small_images import kernel

CODE = bytes(range(16))
FIRMWARE = [
    FirmwareProgram("SecMain", ProgramKind.SEC, (0x10,), CODE),
    FirmwareProgram("PeiCore", ProgramKind.PEI_CORE, (0x742, 0x602), CODE),
    FirmwareProgram("DxeIpl", ProgramKind.PEI_DRIVER, (0xCBA,), CODE),
    FirmwareProgram("DxeCore", ProgramKind.DXE_CORE, (0xCBC,), CODE),
    FirmwareProgram("LoadImage", ProgramKind.SERVICE, (0x12B,), CODE),
    FirmwareProgram("ConnectController", ProgramKind.SERVICE, (0x60D,), CODE),
    FirmwareProgram("ExitBootServices", ProgramKind.SERVICE, (0x1F0,), CODE),
    FirmwareProgram("a_name_" + "x" * 80, ProgramKind.DXE_DRIVER, (0x1D2,), CODE),
    FirmwareProgram("Fat\xe9", ProgramKind.DXE_DRIVER, (0x9C0,), CODE),
]


def places(lines: list[str]) -> list[str]:
    assert all(len(line.split()) == 4 and len(line.split()[1]) <= 64 for line in lines)
    return [line.rsplit(" ", 1)[0] for line in lines]


def test_a_disk_that_bios_boots() -> None:
    lines = bios_lines(b"\xeb\x63" + bytes(14), b"\x52" * 16, kernel())
    assert places(lines) == [
        "image boot_sector 7c00",
        "image loader_entry 8000",
        "moved image_entry 0",
        "moved image_entry 200",
    ]
    assert lines[0].endswith("eb63" + "00" * 14)


def test_a_disk_that_is_not_grubs_and_no_kernel() -> None:
    assert places(bios_lines(b"\xfa" * 16, b"", b"")) == ["image boot_sector 7c00"]
    cd = bios_lines(b"\xe8" * 16, b"\x52" * 16, b"", 0x8200)
    assert places(cd) == ["image boot_sector 7c00", "image loader_entry 8200"]


def test_uefi_its_drivers_and_what_they_start() -> None:
    loaders = [EntryPoint(0x25040, CODE, "shim", 0x40000), EntryPoint(0x9A60, CODE, "GRUB", 0x20000)]
    lines = uefi_lines(FIRMWARE, loaders, kernel(), EntryPoint(0x8B7, CODE, "Linux", 0x10000))
    assert places(lines) == [
        "moved pei_entry 742",
        "moved pei_entry 602",
        "moved driver:DxeIpl cba",
        "moved dxe_entry cbc",
        "moved bds_entry 60d",
        "moved exit_boot_services 1f0",
        "moved driver:a_name_" + "x" * 50 + " 1d2",
        "moved driver:Fat_ 9c0",
        "moved loader_entry 40",
        "moved second_loader_entry a60",
        "moved efi_stub_entry 8b7",
        "moved image_entry 0",
        "moved image_entry 200",
    ]


def test_a_kernel_that_is_no_efi_program() -> None:
    assert not any("efi_stub" in line for line in uefi_lines(FIRMWARE, [], kernel(), None))


def test_a_cards_rom_is_one_mark_wherever_it_is_entered() -> None:
    lines = rom_lines([(3, CODE), (0x6260, CODE)])
    assert places(lines) == ["moved driver:option-ROM 3", "moved driver:option-ROM 260"]


def test_whose_memory_is_whose_in_a_profile() -> None:
    """A program has a line for each place of its entry, and a service, which is part of one, none."""
    firmware = [
        FirmwareProgram("PeiCore", ProgramKind.PEI_CORE, (0x742, 0x602), CODE, 0x502, 0x5000),
        FirmwareProgram("LoadImage", ProgramKind.SERVICE, (0x12B,), CODE),
        FirmwareProgram("Fat\xe9", ProgramKind.DXE_DRIVER, (0x9C0,), CODE, 0x19C0, 0x8000),
    ]
    started = [EntryPoint(0x25040, CODE, "GRUB", 0x40000)]
    code = CODE.hex()
    assert program_lines([*firmware, firmware[2]], started) == [
        f"program PeiCore 1282 20480 742 {code}",
        f"program PeiCore 1282 20480 602 {code}",
        f"program Fat_ 6592 32768 9c0 {code}",
        f"loader GRUB 151616 262144 40 {code}",
    ]
