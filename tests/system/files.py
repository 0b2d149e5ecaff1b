"""System files for tests: one of a PC, and of boards that are emulated or real."""

import re
from pathlib import Path

from bootlab.system import System, read_system

GOOD = """
[machine]
type = "q35"
[kernel]
image = "vmlinuz"
cmdline = "console=ttyS0"
[booted]
mark = "ready"
"""


def write(folder: Path, text: str) -> Path:
    (folder / "vmlinuz").write_bytes(b"")
    path = folder / "system.toml"
    path.write_text(text)
    return path


BOARD = """
[machine]
type = "orangepi-pc"
[kernel]
image = "k"
[bootloader]
package = "u-boot"
falcon = {falcon}
[card]
{card}
[booted]
mark = "ready"
{more}
"""


def board_system(tmp_path: Path, *, falcon: bool = False, card: str = "", more: str = "", without: str = "") -> System:
    text = BOARD.format(falcon=str(falcon).lower(), card=card, more=more)
    if without:
        text = re.sub(rf"(?m)^\[{without}\]\n([^\[]*\n)?", "", text)
    (tmp_path / "k").write_text("")
    (tmp_path / "init").write_text("")
    return _read_board(tmp_path, text)


def _read_board(tmp_path: Path, text: str) -> System:
    path = tmp_path / "board.toml"
    path.write_text(text)
    return read_system(path)
