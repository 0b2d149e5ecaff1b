"""Who wrote what on a console before the kernel, by the programs' own banners."""

import re

import pytest

from bootlab.importers.kernel.boot_phases import OPEN_END
from bootlab.importers.serial.boot_programs import own_stamps_ns, program_of, programs_before_linux
from tests.importers.samples import DATA, phases_ms, recording_of, sample


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("U-Boot SPL 2021.07-dirty (Jan 01 2022)", "U-Boot SPL"),
        ("U-Boot TPL 2017.09", "U-Boot TPL"),
        ("U-Boot 1.1.4 (Oct 11 2010)", "U-Boot"),
        ("OpenSBI v1.4", "OpenSBI"),
        ("NOTICE:  BL31: v2.9(release):", "Trusted Firmware-A BL31"),
        ("I/TC: OP-TEE version: 3.20.0", "OP-TEE"),
        ("DDR V1.18 f366f69a7d typ 23/07/17", "Rockchip's DDR init"),
        ("G12B:BL:6e7c85:7898ac;FEAT:E0F83180:402000", "Amlogic's boot ROM"),
        ("[276]HELLO! BOOT0 is starting!", "Allwinner's boot0"),
        ("Format: Log Type - Time(microsec) - Message - Optional Info", "Qualcomm's XBL"),
        ("coreboot-4.21 Sun Aug 20 ramstage starting (log level: 7)...", "coreboot"),
        ("SeaBIOS (version 1.16.3)", "SeaBIOS"),
        ("barebox 2024.03.0 #1", "barebox"),
        ("Uncompressing Linux... done, booting the kernel.", "the kernel's decompressor"),
        ("this is U-Boot 2021.07", None),
        ("Starting kernel ...", None),
        ("OpenSBI", None),
    ],
)
def test_banners(line: str, name: str | None) -> None:
    assert program_of(line) == name


@pytest.mark.parametrize("name", ["consoles/rockchip-console.log", "consoles/opensbi-spl.log"])
def test_stages_of_a_console_have_all_its_lines_up_to_the_kernel(name: str) -> None:
    rows = (DATA / name).read_text().splitlines()
    found = programs_before_linux(rows)
    assert [program.name for program in found][-1] == "U-Boot"
    # Each lasts to the next; a banner is its first line.
    assert all(one.first + one.lines == other.first for one, other in zip(found, found[1:], strict=False))
    facts = sample(name).facts["before the kernel, without times"]
    assert [part.partition(" (")[0] for part in facts.split(", ")] == [program.name for program in found]


def test_a_host_that_stamps_gives_them_times() -> None:
    text = (
        "[0.000001 0.000000] U-Boot SPL 2024.01\n[0.400001 0.400000] OpenSBI v1.4\n[0.600001 0.200000] U-Boot 2024.01\n"
        "[2.600001 2.000000] Starting kernel ...\n[2.700001 0.100000] [    0.000000] Linux version 6.1\n"
        "[3.700001 1.000000] done\n"
    )
    assert phases_ms(recording_of(text.encode())) == {
        "U-Boot SPL": 400.0, "OpenSBI": 200.0, "U-Boot": 2100.0, OPEN_END: 1000.0,
    }  # fmt: skip


def test_a_loaders_own_stamps_become_lengths_on_its_own_clock() -> None:
    text = (DATA / "consoles" / "uboot-own-stamps.log").read_text()
    # By the file itself: differences of the stamps with three digits.
    stamps = [round(float(one) * 1000) for one in re.findall(r"(?m)^\[ +(\d+\.\d{3})\]", text)]
    lengths = [length for length in sample("consoles/uboot-own-stamps.log").lengths if length.source == "loader"]
    assert [length.took_ns // 10**6 for length in lengths] == [b - a for a, b in zip(stamps, stamps[1:], strict=False)]
    assert next(own_stamps_ns(["[   9.616] Loading Device Tree"])) == (9_616_000_000, "Loading Device Tree")
