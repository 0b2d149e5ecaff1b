"""The plugin's config for what runs before the kernel of a PC's disk."""

from bootlab.profile.asked.pc_stages import EntryPoint, bios_lines, uefi_lines
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


def test_uefi_its_drivers_and_what_they_start() -> None:
    loaders = [EntryPoint(0x25040, CODE), EntryPoint(0x9A60, CODE)]
    lines = uefi_lines(FIRMWARE, loaders, kernel(), EntryPoint(0x8B7, CODE))
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
