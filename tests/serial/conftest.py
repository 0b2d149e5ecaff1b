"""A board on a serial line: an emulated PC that only a power command, a delivery and a pty connect with bootlab."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.serial.null_modem import NullModem

EXAMPLES = Path(__file__).parents[2] / "examples"
SYSTEM = """
[machine]
type = "x86_64-board"
cpu = "an emulated PC"
[kernel]
package = "linux-image-cloud-amd64"
suite = "bookworm"
cmdline = "console=ttyS0 earlyprintk=ttyS0 panic=-1 cryptomgr.notests"
[target]
kind = "serial"
port = "{port}"
power_on = "{power_on}"
power_off = "{power_off}"
deliver = '''
set -e
cp $BOOTLAB_KERNEL {flash}/kernel
cp $BOOTLAB_INITRAMFS {flash}/initramfs
echo "$BOOTLAB_CMDLINE" | tee {flash}/cmdline >>{flash}/delivered
'''
off_s = 0
{target}
[initramfs]
init = "{init}"
[booted]
{booted}
"""
BANNER = 'console = "Linux version"\ndeadline_s = 60'
SHELL = (
    "setsid qemu-system-x86_64 -nodefaults -display none -machine q35 -cpu max -m 256 -no-reboot -serial {machine} "
    '-kernel {flash}/kernel -initrd {flash}/initramfs -append \\"$(cat {flash}/cmdline)\\" >{flash}/log 2>&1 & '
    "echo $! >{flash}/pid"
)
OFF = "[ ! -e {flash}/pid ] || kill -9 $(cat {flash}/pid) || true; rm -f {flash}/pid"


WriteBoard = Callable[..., Path]


@pytest.fixture
def modem() -> Iterator[NullModem]:
    with NullModem() as modem:
        yield modem


@pytest.fixture
def write_board(tmp_path: Path) -> WriteBoard:
    """Write the system file of a board that hangs on a null modem."""

    def write(
        modem: NullModem, booted: str = BANNER, target: str = "", init: Path = EXAMPLES / "cloud" / "init", **words: str
    ) -> Path:
        flash = tmp_path / "flash"
        flash.mkdir(exist_ok=True)
        power = {"power_on": SHELL, "power_off": OFF, **words}
        power = {key: text.format(flash=flash, machine=modem.machine) for key, text in power.items()}
        path = tmp_path / "board.toml"
        path.write_text(SYSTEM.format(port=modem.port, flash=flash, booted=booted, target=target, init=init, **power))
        return path

    return write
