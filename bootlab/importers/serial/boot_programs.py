"""Which program wrote which part of a console before the kernel: boot ROM, SPL, OpenSBI, U-Boot, by their banners.

    DDR Version 1.25 ...      U-Boot SPL 2021.07 ...      OpenSBI v0.9      U-Boot 2021.07 ...      Starting kernel ...

U-Boot of some vendors stamps its lines itself, on a clock of its own: `[   9.616] Loading Device Tree`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bootlab.timeline.recording import Length

DECOMPRESSOR: Final = "the kernel's decompressor"
_BANNERS: Final = (
    ("U-Boot TPL", re.compile(r"\s{0,8}U-Boot TPL \d")),
    ("U-Boot SPL", re.compile(r"\s{0,8}U-Boot SPL \d")),
    ("U-Boot", re.compile(r"\s{0,8}U-Boot \d{1,4}\.\d")),
    ("OpenSBI", re.compile(r"OpenSBI v?\d")),
    ("Trusted Firmware-A BL1", re.compile(r"NOTICE: {1,4}BL1: v")),
    ("Trusted Firmware-A BL2", re.compile(r"NOTICE: {1,4}BL2: v")),
    ("Trusted Firmware-A BL31", re.compile(r"NOTICE: {1,4}BL31: v")),
    ("OP-TEE", re.compile(r"[IE]/TC: ")),
    ("Rockchip's DDR init", re.compile(r"DDR (?:Version |V)\d")),
    ("Rockchip's miniloader", re.compile(r"Boot1 Release Time")),
    ("Amlogic's boot ROM", re.compile(r"(?:GXBB|GXL|GXM|AXG|TXL\w?|G12A|G12B|SM1|SC2|S4|T7):BL")),
    ("Allwinner's boot0", re.compile(r"(?:\[\d+\])?HELLO! BOOT0 is starting")),
    ("MediaTek's boot ROM", re.compile(r"F0: [0-9A-F]{3,4} [0-9A-F]{4}")),
    ("AT91Bootstrap", re.compile(r"AT91Bootstrap \d|RomBOOT")),
    ("Qualcomm's XBL", re.compile(r"Format: Log Type - Time\(microsec\)")),
    ("StarFive's boot ROM", re.compile(r"bootloader version: ?\d{6}")),
    ("barebox", re.compile(r"barebox \d{4}\.\d\d")),
    (
        "coreboot",
        re.compile(
            # Since 4.18 with the level of the line before it.
            r"(?:\[[A-Z]{3,6} {0,2}\] {1,4})?coreboot-\S{1,60} .{1,80} "
            r"(?:bootblock|verstage|romstage|postcar|ramstage) starting"
        ),
    ),
    ("SeaBIOS", re.compile(r"SeaBIOS \(version ")),
    ("UEFI firmware", re.compile(r"UEFI firmware \(version ")),
    ("GRUB", re.compile(r"Welcome to GRUB!|GNU GRUB  version")),
    ("iPXE", re.compile(r"iPXE \d\.\d|iPXE initialising devices")),
    (DECOMPRESSOR, re.compile(r"(?:Uncompressing|Decompressing) Linux\.")),
)
_LINUX = re.compile(r"Linux version \d|Booting Linux on physical CPU")
# [   9.616] Loading Device Tree          three digits, and the kernel has six; of loaders alone six are theirs, too
_OWN_STAMP = re.compile(r"\[ {0,8}(?P<seconds>\d{1,5})\.(?P<part>\d{3}(?:\d{3})?)\] ?")
# [DEBUG]  BS: BS_DEV_INIT run times (exec / console): 170 / 34 ms      BS: bootblock times ...: total (unknown) / 46 ms
_STATE = re.compile(
    r"(?:\[[A-Z]{3,6} {0,2}\] {1,4})?BS: (?P<name>\w{1,40}(?: \w{1,10})?) times \(exec / console\): "
    r"(?:(?P<exec>\d{1,9})|total \(unknown\)) / (?P<console>\d{1,9}) ms"
)


@dataclass(frozen=True, slots=True)
class BootProgram:
    """A program on the console. `first`: the index of its first line; `lines`: up to the next program's."""

    name: str
    first: int
    lines: int


def program_of(line: str) -> str | None:
    """Return the program that this line is the banner of; None for any other line."""
    return next((name for name, form in _BANNERS if form.match(line) is not None), None)


def programs_before_linux(lines: Sequence[str]) -> list[BootProgram]:
    """Return the programs that named themselves, in their order, up to the kernel's first line."""
    end = next((index for index, line in enumerate(lines) if _LINUX.search(line) is not None), len(lines))
    starts: list[tuple[int, str]] = []
    for index, line in enumerate(lines[:end]):
        name = program_of(line)
        # Several of them repeat their name in each line.
        if name is not None and (not starts or starts[-1][1] != name):
            starts.append((index, name))
    following = [*(index for index, _ in starts[1:]), end]
    return [BootProgram(name, first, next_one - first)
            for (first, name), next_one in zip(starts, following, strict=False)]  # fmt: skip


def own_stamps_ns(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the time that a loader's line bears on the loader's own clock, and the line without it."""
    for line in lines:
        if (found := _OWN_STAMP.match(line)) is not None:
            part_ns = int(found["part"].ljust(9, "0"))
            yield int(found["seconds"]) * 1_000_000_000 + part_ns, line[found.end() :]


def own_stamp_lengths(lines: Sequence[str]) -> list[Length]:
    """Return how long each stretch of a loader took by its own stamps, which are on no clock of anybody else's."""
    stamped = list(own_stamps_ns(lines))
    return [
        Length(later - earlier, "loader", text[:120], f"until its stamp {later / 1e9:.3f} s, by its own clock")
        for (earlier, text), (later, _) in zip(stamped, stamped[1:], strict=False)
        if later >= earlier
    ]


def coreboot_lengths(lines: Iterable[str]) -> list[Length]:
    """Return how long each state of coreboot took by its own line; printing to the console is part of that.

    Of the stages before its ramstage coreboot tells the printing alone.
    """
    found = []
    for line in lines:
        if (state := _STATE.match(line)) is None:
            continue
        console = int(state["console"])
        if state["exec"] is None:
            found.append(Length(console * 1_000_000, "loader", state["name"], "its printing alone, as coreboot says"))
        else:
            took_ns = (int(state["exec"]) + console) * 1_000_000
            found.append(Length(took_ns, "loader", state["name"], f"{console} ms of it printing, as coreboot says"))
    return found
