"""A machine whose image another kernel restores: what its file may say, and which kernel a power-on then starts."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.system import System, read_system, sleep_word

RESTORED = """
name = "restored"
[machine]
type = "q35"
[kernel]
package = "linux-image-cloud-amd64"
cmdline = "root=/dev/vda rw"
[initramfs]
mount_root = true
[rootfs]
bootlab_init = true
sleep_agent = true
[[disks]]
size_mib = 64
filesystem = "swap"
[restorer.kernel]
cmdline = "noresume resume=/dev/vdb root=/dev/vda"
[restorer.kernel.build]
package = "linux-source-6.12"
fragments = ["small.config"]
[restorer.initramfs]
mount_root = true
sleep_agent = true
[power_on]
kind = "hibernated"
[booted]
mark = "ready"
"""


def read(folder: Path, text: str) -> System:
    (folder / "small.config").write_text("CONFIG_HIBERNATION=y\n")
    (folder / "files").mkdir(exist_ok=True)
    (folder / "system.toml").write_text(text)
    return read_system(folder / "system.toml")


def test_the_restorer_is_what_a_hibernated_machine_starts_and_no_other(tmp_path: Path) -> None:
    system = read(tmp_path, RESTORED)
    assert system.restorer is not None and system.restores and system.started_kernel is system.restorer.kernel
    build = system.restorer.kernel.build
    assert build is not None and build.fragments == (tmp_path / "small.config",)
    cold = read(tmp_path, RESTORED.replace('kind = "hibernated"', 'kind = "cold"'))
    assert cold.restorer is not None and not cold.restores and cold.started_kernel is cold.kernel


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("resume=/dev/vdb", "resume=/dev/vdc", 'restorer.kernel.cmdline: power_on.kind = "hibernated" needs resume='),
        ("mount_root = true\nsleep_agent = true\n", "mount_root = true\n", "restorer.initramfs.sleep_agent = true"),
        ("mount_root = true\nsleep_agent", 'path = "small.config"\nsleep_agent', "restorer.initramfs: what looks at"),
        ("[restorer.kernel]\n", '[restorer.kernel]\nentry = "pvh"\n', 'restorer.kernel.entry is "pvh"'),
        ('[[disks]]\nsize_mib = 64\nfilesystem = "swap"\n', "", 'restorer: it needs [[disks]] filesystem = "swap"'),
        ("small.config", "none.config", "restorer.kernel.build.fragments[0]: no such file"),
        ("[booted]", '[marks]\nmine = "kernel_init"\n[booted]', "marks: symbols are of one kernel"),
        ("[booted]", "[clock]\ncharges = { kernel_init = 5 }\n[booted]", "clock.charges: symbols are of one kernel"),
        ("[booted]", "[clock]\ntick_us = 4000\n[booted]", "clock.tick_us: symbols are of one kernel"),
    ],
)
def test_what_cannot_restore_is_refused_with_its_key(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in RESTORED
    with pytest.raises(InputError) as caught:
        read(tmp_path, RESTORED.replace(old, new, 1))
    assert said in caught.value.message


BOARD = """
name = "board"
[machine]
type = "orangepi-pc"
[bootloader]
package = "u-boot"
falcon = true
[card]
swap_mib = 32
[kernel]
cmdline = "quiet"
[kernel.build]
package = "linux-source-6.12"
fragments = ["small.config"]
[initramfs]
directory = "files"
embedded = true
sleep_agent = true
[power_on]
kind = "hibernated"
[booted]
mark = "ready"
"""


def test_of_a_board_its_loader_goes_on_from_the_swap_area_of_its_card(tmp_path: Path) -> None:
    system = read(tmp_path, BOARD)
    assert system.hibernated_by_loader and system.swap_device == "/dev/mmcblk0p2"
    assert sleep_word(system) == "bootlab.sleep=disk:/dev/mmcblk0p2"
    without = read(tmp_path, BOARD.replace("swap_mib = 32", "").replace('kind = "hibernated"', 'kind = "cold"'))
    assert not without.hibernated_by_loader and without.swap_device is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("swap_mib = 32", "", "card.swap_mib"),
        ("[booted]", "[clock]\ntick_us = 4000\n[booted]", "clock.tick_us: SPL takes an image"),
        ("falcon = true", "", "bootloader.falcon = true"),
        ("swap_mib = 32", 'swap_mib = 32\nkept_ram = { size_mib = 4, at_mib = 1280, verify = "all" }', "kept_ram"),
        ("swap_mib = 32", 'path = "small.config"\nswap_mib = 32', "swap_mib are of one to be composed"),
        ('"quiet"', '"resume=/dev/mmcblk0p2"', "kernel.cmdline: resume=/dev/mmcblk0p2"),
        ("sleep_agent = true", "", "initramfs.sleep_agent = true"),
        ('kind = "hibernated"', 'kind = "hibernated"\nfault = "root-changed"', '"old-image"'),
        (
            'kind = "hibernated"',
            'kind = "hibernated"\nfault = "image-taken"',
            "of a board SPL does",
        ),
    ],
)
def test_a_board_that_could_not_hibernate_so_is_refused_by_key(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in BOARD
    with pytest.raises(InputError) as caught:
        read(tmp_path, BOARD.replace(old, new, 1))
    assert said in caught.value.message


def test_an_older_card_is_of_a_board(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='"old-image" is of a board'):
        read(tmp_path, RESTORED.replace('kind = "hibernated"', 'kind = "hibernated"\nfault = "old-image"'))
