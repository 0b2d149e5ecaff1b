"""The plugin's config for what runs before a board's kernel."""

from bootlab.profile.asked.marks import arch_line
from bootlab.profile.asked.stage_marks import LoadedFile, stage_lines


class Stage:
    """Functions at addresses, each of 32 bytes that begin with its own name."""

    def __init__(self, **addresses: int) -> None:
        self.addresses = addresses

    def address(self, name: str) -> int | None:
        return self.addresses.get(name)

    def code(self, name: str, size: int) -> bytes | None:
        return name.encode().ljust(32, b"\0")[:size] if name in self.addresses else None


def test_each_stage_is_seen_where_it_runs() -> None:
    spl = Stage(_start=0x60, spl_start_uboot=0x2D0, jump_to_image_linux=0x11FC)
    uboot = Stage(_start=0x4A000000, do_load=0x4A02F1C0, cleanup_before_linux=0x4A001390)
    lines = stage_lines(spl, None, uboot, LoadedFile(b"zImage" * 9, (0x42000000, 0x44000000, 0x42000000)))
    assert [line.rsplit(" ", 1)[0] for line in lines] == [
        "image spl_entry 60",
        "image kernel_load 2d0",
        "image kernel_jump 11fc",
        "image uboot_entry 4a000000",
        "moved kernel_load 4a02f1c0",
        "moved kernel_jump 4a001390",
        "image image_entry 42000000",
        "image image_entry 44000000",
    ]
    assert lines[0].split()[3] == b"_start".ljust(16, b"\0").hex()
    assert lines[-1].split()[3] == (b"zImage" * 9)[:16].hex()


def test_a_function_of_spl_is_watched_where_it_has_it() -> None:
    spl = Stage(_start=0x60, twsi_i2c_init=0x1240)
    watch = ("memmap_init", "SPL:twsi_i2c_init", "SPL:eth_init")
    assert stage_lines(spl, None, None, LoadedFile(b"zImage", ()), watch) == [
        f"image spl_entry 60 {b'_start'.ljust(16, bytes(1)).hex()}",
        f"image watch:SPL:twsi_i2c_init 1240 {b'twsi_i2c_init'.ljust(16, bytes(1)).hex()}",
    ]
    assert stage_lines(None, None, None, LoadedFile(b"zImage", ()), watch) == []


def test_a_finished_card_has_its_kernel_alone() -> None:
    assert stage_lines(None, None, None, LoadedFile(b"zImage" * 9, (0x42000000,))) == [
        f"image image_entry 42000000 {(b'zImage' * 9)[:16].hex()}"
    ]


def test_opensbi_is_seen_where_spl_puts_it_and_a_script_in_memory_begins_the_load() -> None:
    uboot = Stage(_start=0x81200000, do_load=0x8121A000, do_source=0x81219000)
    lines = stage_lines(None, LoadedFile(b"OpenSBI" * 9, (0x80100000,)), uboot, LoadedFile(b"Image" * 9, (0x80200000,)))
    assert [line.rsplit(" ", 1)[0] for line in lines] == [
        "image uboot_entry 81200000",
        "moved kernel_load 8121a000",
        "moved kernel_load 81219000",
        "image opensbi_entry 80100000",
        "image image_entry 80200000",
    ]
    assert lines[3].split()[3] == (b"OpenSBI" * 9)[:16].hex()


def test_arm_says_where_its_kernel_begins() -> None:
    # By CONFIG_VMSPLIT_3G, _2G and _3G_OPT: modules lie 16 MiB below the kernel's own part.
    assert arch_line("armv7", 0xC0008000) == "arch armv7 bf000000"
    assert arch_line("armv7", 0x80108000) == "arch armv7 7f000000"
    assert arch_line("armv7", 0xB0008000) == "arch armv7 af000000"
    assert arch_line("armv7", None) == "arch armv7 bf000000"
    assert arch_line("aarch64", 0xFFFF800008000000) == "arch aarch64"
