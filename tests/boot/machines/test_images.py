"""Disk images on real boots: built, booted from the first instruction of BIOS and UEFI, exactly and untouched.

The promise follows each to the kernel's first line, which is all of the chain; whole boots to the login prompt are
three a chain, and take minutes.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bootlab.build.cache import Cache, file_sha256
from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.life import CONSOLE, live
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import System, read_system
from bootlab.timeline import marks as m

pytestmark = [pytest.mark.boot, pytest.mark.network]

ROOT = Path(__file__).parents[3]
KERNEL_SPEAKS = ('console = "login:"', 'console = "Linux version"')
UEFI = ("memory_mib = 1024", 'memory_mib = 1024\nfirmware = "ovmf"\nfirmware_suite = "trixie"')
STUB = ("[image]\n", '[image]\nloader = "efi-stub"\n')
FIRMWARE = [m.PEI_ENTRY, m.DXE_ENTRY, m.BDS_ENTRY]

Image = Callable[..., Path]


def bootlab(*words: str | Path, expect: int = 0) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "bootlab", *map(str, words)]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=ROOT, check=False, timeout=3600)
    assert done.returncode == expect, done.stderr
    return done


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """Build an image by the verb, with one installation for all of them."""
    folder = tmp_path_factory.mktemp("images")

    def build(loader: str = "grub", format: str = "raw", *more: str, suite: str = "bookworm") -> Path:
        path = folder / f"{'-'.join([suite, loader, *more])}.{format}"
        if not path.exists():
            words = ["--suite", suite, "--loader", loader, "--format", format, "--output", path, "--json", *more]
            built: dict[str, Any] = json.loads(bootlab("build", "image", *words).stdout)
            assert built["schema"] == "bootlab.image/1" and built["path"] == str(path)
            assert {"openssh-server", "systemd-sysv"} <= {one["name"] for one in built["packages"]}
        return path

    return build


def system_of(image: Path, folder: Path, *changes: tuple[str, str]) -> System:
    """Have the verb write the image's system file, change its text, and read it."""
    path = folder / "system.toml"
    bootlab("boot", image, "--write-system", path)
    text = path.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return read_system(path)


def boot_alike(system: System, shop: Workshop, folder: Path, times: int) -> BootRecord:
    """Boot so often; all marks, counts, drivers and the console must be the same each time, and the image as before."""
    assert system.image is not None
    before = file_sha256(system.image.path)
    prepared = prepare(shop, system)
    records = []
    for number in range(times):
        (folder / str(number)).mkdir(parents=True)
        records.append(boot(prepared, folder / str(number)))
    first = records[0]
    assert first.outcome is Outcome.READY, first.detail
    for other in records[1:]:
        assert (other.marks, other.instructions, other.drivers) == (first.marks, first.instructions, first.drivers)
        assert (other.console_sha256, other.phases) == (first.console_sha256, first.phases)
    assert file_sha256(system.image.path) == before
    assert first.exact_disks is True and not [line for line in first.remarks if "repeat" in line]
    assert first.ready_ns == sum(phase.duration_ns for phase in first.phases)
    return first


def _drivers(record: BootRecord) -> set[str]:
    return {driver.name for driver in record.drivers}


@pytest.mark.promise("disk images")
@pytest.mark.promise("bootlab build image")
def test_an_image_is_built_and_boots_alike_by_bios_and_uefi(image: Image, shop: Workshop, tmp_path: Path) -> None:
    bios = boot_alike(system_of(image(), tmp_path, KERNEL_SPEAKS), shop, tmp_path / "bios", 2)
    stages = [m.POWER_ON, m.BOOT_SECTOR, m.LOADER_ENTRY, m.IMAGE_ENTRY, m.KERNEL_ENTRY, m.START_KERNEL]
    assert [name for name in bios.marks if name in stages] == stages
    assert _drivers(bios) == {"option-ROM"}, "of the network card: SeaBIOS has no drivers with a name"
    read = {phase.name: phase.read_bytes for phase in bios.phases}
    assert read["firmware"] == read["boot sector"] == 512, "the first sector, and the next one that it loads"
    assert read["loader"] is not None and read["loader"] > 20_000_000 and read["decompressor"] == 0
    uefi = boot_alike(system_of(image(), tmp_path, KERNEL_SPEAKS, UEFI), shop, tmp_path / "uefi", 1)
    assert uefi.phases[3].name == "BDS" and (uefi.phases[3].read_bytes or 0) > 0, "it looks for something to boot"
    assert [phase.name for phase in uefi.phases][:5] == ["SEC", "PEI", "DXE", "BDS", "loader"]
    assert {"PlatformPei", "VirtioBlkDxe", "Fat", "BdsDxe", "option-ROM"} <= _drivers(uefi)
    assert uefi.marks[m.EXIT_BOOT_SERVICES] < uefi.marks[m.START_KERNEL]


BY_BIOS = [m.BOOT_SECTOR, m.LOADER_ENTRY, m.IMAGE_ENTRY]
BY_LOADER = [*FIRMWARE, m.LOADER_ENTRY, m.EFI_STUB_ENTRY, m.EXIT_BOOT_SERVICES]
WITHOUT_LOADER = [*FIRMWARE, m.EFI_STUB_ENTRY, m.EXIT_BOOT_SERVICES]
# Debian 12's GRUB jumps over the stub, to the decompressor; Debian 13's starts it as a program of UEFI's.
BY_GRUB = {"bookworm": [*FIRMWARE, m.LOADER_ENTRY, m.EXIT_BOOT_SERVICES, m.IMAGE_ENTRY], "trixie": BY_LOADER}


@pytest.mark.parametrize("suite", ["bookworm", "trixie"])
@pytest.mark.parametrize(
    ("loader", "format", "changes", "stages"),
    [
        ("grub", "raw", (), BY_BIOS),
        ("grub", "qcow2", (), BY_BIOS),
        ("grub", "raw", (UEFI,), BY_GRUB),
        ("systemd-boot", "raw", (UEFI,), BY_LOADER),
        ("uki", "raw", (UEFI,), BY_LOADER),
        ("grub", "raw", (UEFI, STUB), WITHOUT_LOADER),
    ],
)
def test_three_whole_boots_are_identical(
    suite: str,
    loader: str,
    format: str,
    changes: tuple[tuple[str, str], ...],
    stages: list[str] | dict[str, list[str]],
    image: Image,
    shop: Workshop,
    tmp_path: Path,
) -> None:
    system = system_of(image(loader, format, suite=suite), tmp_path, *changes)
    record = boot_alike(system, shop, tmp_path / "boots", 3)
    expected = stages[suite] if isinstance(stages, dict) else stages
    assert [name for name in record.marks if name in (*m.PC_STAGES, m.IMAGE_ENTRY)] == expected
    # sshd listens before the prompt is there.
    assert m.FIRST_USER_INSTRUCTION in record.marks and record.marks["ssh"] < record.marks[m.READY]


ROM = ("[network]\n", "[network]\noption_rom = false\n")
DIRECT = ("[image]\n", '[image]\nloader = "direct"\n')
MENU = ("memory_mib = 1024", "memory_mib = 1024\nboot_menu_s = 3")
KERNEL_SAYS = (KERNEL_SPEAKS[0], 'console = "secureboot: Secure boot disabled"')
SAYS_SECURE = (KERNEL_SPEAKS[0], 'console = "secureboot: Secure boot enabled"')
SECURE = ("memory_mib = 1024", "memory_mib = 1024\nsecure_boot = true")


@pytest.mark.parametrize("suite", ["bookworm", "trixie"])
@pytest.mark.parametrize("firmware", [(), (UEFI,)])
def test_what_stands_before_the_kernel_can_be_left_out(
    firmware: tuple[tuple[str, str], ...], suite: str, image: Image, shop: Workshop, tmp_path: Path
) -> None:
    def booted(name: str, *changes: tuple[str, str]) -> BootRecord:
        return boot_alike(
            system_of(image(suite=suite), tmp_path, KERNEL_SPEAKS, *firmware, *changes), shop, tmp_path / name, 1
        )

    plain = booted("plain")
    started = m.LOADER_ENTRY if firmware else m.BOOT_SECTOR
    without = booted("rom", ROM)
    assert without.marks[started] < plain.marks[started]
    assert "option-ROM" in _drivers(plain) and "option-ROM" not in _drivers(without)
    waits = booted("menu", MENU).marks[started] - plain.marks[started]
    assert 2_900_000_000 < waits < 3_200_000_000
    direct = booted("direct", DIRECT)
    assert {m.BOOT_SECTOR, m.LOADER_ENTRY}.isdisjoint(direct.marks) and direct.ready_ns is not None
    assert plain.ready_ns is not None and direct.ready_ns < plain.ready_ns


def test_secure_boot_starts_what_is_signed_and_nothing_else(image: Image, shop: Workshop, tmp_path: Path) -> None:
    signed = system_of(image("shim"), tmp_path, SAYS_SECURE, UEFI, SECURE)
    record = boot_alike(signed, shop, tmp_path / "signed", 3)
    assert {m.LOADER_ENTRY, m.SECOND_LOADER_ENTRY} <= record.marks.keys()
    # The same with it and without: shim hashes what GRUB loads.
    plain = boot_alike(system_of(image("shim"), tmp_path, KERNEL_SAYS, UEFI), shop, tmp_path / "plain", 1)
    assert record.ready_ns is not None and plain.ready_ns is not None
    assert record.ready_ns - plain.ready_ns > 3_000_000_000
    # GRUB by itself is signed by Debian, whose key this firmware does not have.
    system = system_of(image(), tmp_path, KERNEL_SPEAKS, UEFI, SECURE)
    (tmp_path / "unsigned").mkdir()
    refused = boot(prepare(shop, system), tmp_path / "unsigned")
    assert refused.outcome is Outcome.HUNG and m.LOADER_ENTRY not in refused.marks
    assert "Secure Boot refused the loader on" in refused.detail


def test_a_uki_that_the_efi_system_partition_has_no_room_for(image: Image, tmp_path: Path) -> None:
    full, filler = tmp_path / "full.img", tmp_path / "filler"
    shutil.copyfile(image(), full)
    filler.write_bytes(bytes(100 << 20))
    subprocess.run(["mcopy", "-i", f"{full}@@{4 << 20}", filler, "::old-kernels"], check=True)
    before = file_sha256(full)
    system_of(full, tmp_path, UEFI, ("[image]\n", '[image]\nloader = "uki"\n'))
    told = bootlab("boot", tmp_path / "system.toml", expect=2).stderr
    assert (
        "partition 15 (the EFI system partition, FAT, 124 MiB) has no room for EFI/BOOT/BOOTX64.EFI: it needs" in told
    )
    assert re.search(r"it needs 2\d\.\d MiB, and 2\d\.\d MiB are free", told), told
    assert file_sha256(full) == before


def test_what_a_trial_found_is_laid_into_a_new_image_which_boots_to_the_trials_figure(
    image: Image, tmp_path: Path
) -> None:
    waits = image("grub", "raw", "--menu", "1")
    system_of(waits, tmp_path, KERNEL_SPEAKS)
    before, runs = file_sha256(waits), tmp_path / "runs"
    tried = ["try", tmp_path / "system.toml", "bootloader_menu_none", "--seeds", "3", "--nulls", "3"]
    bootlab(*tried, "--runs", runs, "--json")
    applied = ["apply", "last", "--to", tmp_path / "changes", "--image", tmp_path / "new.qcow2"]
    told = json.loads(bootlab(*applied, "--runs", runs, "--json").stdout)
    assert "bootloader_menu_none" in told["techniques"] and told["before_ns"] - told["after_ns"] > 900_000_000
    for name in ("image.toml", "system.toml"):
        booted = json.loads(bootlab("boot", tmp_path / "changes" / name, "--runs", runs, "--json").stdout)
        assert booted["marks"]["ready"] == told["after_ns"], name
    assert file_sha256(waits) == before


@pytest.mark.parametrize("suite", ["bookworm", "trixie"])
def test_a_second_life_does_less_than_the_first_and_a_life_can_be_lived_again(
    suite: str, image: Image, shop: Workshop, tmp_path: Path
) -> None:
    new = image("grub", "raw", "--first-boot-clean", suite=suite)
    before = file_sha256(new)
    said = bootlab("boot", new, "--lives", "2", "--life-s", "40", "--json", "--runs", tmp_path / "runs").stdout
    result = json.loads(said)
    assert result["schema"] == "bootlab.lives/1" and file_sha256(new) == before
    first, second = (one["boots"][0] for one in result["lives"])
    assert second["marks"]["ready"] < first["marks"]["ready"]
    # The firmware and the bootloader do the same in both.
    assert second["marks"]["start_kernel"] == first["marks"]["start_kernel"]
    kinds = {kind for step in result["only_first"] for kind in step["kinds"]}
    # The prompt does not wait for the host keys here: getty gives up waiting for other jobs after 5 s.
    assert "machine-id" in kinds
    steps = sum(step["first_ns"] - step["later_ns"] for step in result["only_first"]) + result["rest_ns"]
    assert steps == first["marks"]["ready"] - second["marks"]["ready"]

    system = system_of(new, tmp_path, ('path = "', 'life_s = 40\npath = "'))
    lived = live(shop, prepare(shop, system))
    again = live(Workshop(Cache(tmp_path / "cache")), prepare(shop, system))
    assert again.identity == lived.identity and again.folder != lived.folder
    for name in ("image.qcow2", CONSOLE):
        assert file_sha256(again.folder / name) == file_sha256(lived.folder / name)


def test_the_key_that_chance_makes_longer_is_rolled_again_and_its_process_named(image: Image, tmp_path: Path) -> None:
    """sshd's port is what waits for the keys, of which cloud-init tells; the prompt waits five seconds at most."""
    new = image("grub", "raw", "--first-boot-clean", "--packages", "cloud-init,cloud-guest-utils")
    before = file_sha256(new)
    system_of(new, tmp_path, ('console = "login:"', 'mark = "ssh"'))
    words = ["boot", tmp_path / "system.toml", "--lives", "1", "--json", "--runs", tmp_path / "runs"]
    result = json.loads(bootlab(*words).stdout)
    (first,) = result["lives"]
    assert result["rerolled"] == [2, 3] and [one["seed"] for one in first["boots"]] == [1, 2, 3]
    widest = max(
        result["chances"], key=lambda chance: max(chance["took_ns"].values()) - min(chance["took_ns"].values())
    )
    assert "host keys" in widest["kinds"]
    # What the step differs by is what ssh-keygen ran.
    named = widest["processes"][0]
    assert "ssh-keygen" in named["command"]
    shortest, longest = sorted(named["ran_ns"].values())
    spread = max(widest["took_ns"].values()) - min(widest["took_ns"].values())
    assert 0.8 * spread < longest - shortest < 1.2 * spread
    assert first["steady"]["max_ns"] - first["steady"]["min_ns"] < first["ready"]["max_ns"] - first["ready"]["min_ns"]
    assert file_sha256(new) == before


def test_a_bad_image_is_told_in_one_sentence(image: Image, tmp_path: Path) -> None:
    cut, blank = tmp_path / "cut.img", tmp_path / "blank.img"
    cut.write_bytes(image().read_bytes()[: 300 << 20])
    blank.write_bytes(bytes(1 << 20))
    for path, words in ((cut, "cut off: partition 1 ends at byte"), (blank, "without a partition table")):
        told = [line for line in bootlab("boot", path, expect=2).stderr.splitlines() if "error:" in line]
        assert len(told) == 1 and f"{path}: " in told[0] and words in told[0]
