"""What a system file may say of RAM that a board's SPL keeps; of a root in kept RAM test_power_on.py says it."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.system import System, read_system

SYSTEM = """
name = "kept"
[machine]
type = "orangepi-pc"
[bootloader]
package = "u-boot"
falcon = true
[card]
kept_ram = { size_mib = 4, at_mib = 1280, verify = "all" }
[kernel]
[kernel.build]
package = "linux-source-6.12"
base = "allnoconfig"
[initramfs]
init = "system.toml"
embedded = true
[booted]
mark = "ready"
"""


def read(folder: Path, text: str) -> System:
    (folder / "system.toml").write_text(text)
    return read_system(folder / "system.toml")


def test_a_region_lies_in_the_boards_memory_which_does_not_begin_at_0(tmp_path: Path) -> None:
    system = read(tmp_path, SYSTEM)
    assert system.kept_by_loader and system.kept_ram is not None and system.kept_ram.start == 0x50000000
    assert system.kept_span == range(256 << 20, 260 << 20)
    found = read(tmp_path, SYSTEM + '[power_on]\nkind = "self-refresh"\nfault = "image-bit"\n')
    assert found.power_on is not None and found.power_on.finds
    plain = read(tmp_path, SYSTEM.replace('kept_ram = { size_mib = 4, at_mib = 1280, verify = "all" }\n', ""))
    assert not plain.kept_by_loader and plain.kept_ram is None and plain.kept_span is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("at_mib = 1280, ", "", "1280 to 1920"),
        ("at_mib = 1280", "at_mib = 1918", "1280 to 1920"),
        ('verify = "all"', 'verify = "verity"', 'verify = "all"'),
        (', verify = "all"', "", "card.kept_ram.verify"),
        ('verify = "all"', 'verify = "all", without = ["/usr"]', "card.kept_ram.without"),
        ('verify = "all"', 'verify = "all", dax = true', "card.kept_ram.dax"),
        ('verify = "all"', 'verify = "all", changes_mib = 1', "card.kept_ram.changes_mib"),
        ("falcon = true\n", "", "bootloader.falcon = true"),
        ("kept_ram =", 'path = "system.toml"\nkept_ram =', "kept_ram and swap_mib are of one to be composed"),
        ("[booted]", '[power_on]\nkind = "self-refresh"\nfault = "file-bit"\nfault_file = "/a"\n[booted]', "image-bit"),
        ("[booted]", '[power_on]\nkind = "self-refresh"\nfault = "changes-bit"\n[booted]', "changes-bit"),
        ("[booted]", '[power_on]\nkind = "cold"\nfault = "image-bit"\n[booted]', "kind is"),
        ("[booted]", '[power_on]\nkind = "self-refresh"\n[clock]\nkind = "wall"\n[booted]', 'clock.kind = "virtual"'),
    ],
)
def test_what_cannot_be_is_refused_with_its_key(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in SYSTEM
    with pytest.raises(InputError, match="power_on|kept_ram|path") as caught:
        read(tmp_path, SYSTEM.replace(old, new, 1))
    assert said in caught.value.message


def test_a_board_without_a_region_finds_nothing(tmp_path: Path) -> None:
    text = SYSTEM.replace('kept_ram = { size_mib = 4, at_mib = 1280, verify = "all" }\n', "")
    with pytest.raises(InputError, match="card.kept_ram"):
        read(tmp_path, text + '[power_on]\nkind = "self-refresh"\n')
