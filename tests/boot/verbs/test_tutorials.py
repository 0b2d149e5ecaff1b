"""The tutorials of docs/tutorials, followed to the letter in an empty folder: files, commands, and a verdict."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.boot, pytest.mark.network]

TUTORIALS = Path(__file__).resolve().parents[3] / "docs" / "tutorials"
ROOT = TUTORIALS.parents[1]
LONGEST_S = 7200


def follow(name: str, folder: Path) -> str:
    """Write the files of a tutorial and run its commands, each with what it prints; returns all of that."""
    text = (TUTORIALS / f"{name}.md").read_text()
    blocks = re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert blocks and all(path or language == "sh" for language, path, _ in blocks)
    program = folder / ".bin" / "bootlab"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m bootlab "$@"\n')
    program.chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{program.parent}:{os.environ['PATH']}"}
    environment |= {"BOOTLAB_RUNS": str(folder / "runs"), "COLUMNS": "120"}
    said = ""
    for _, path, block in blocks:
        if path:
            (folder / path).write_text(block)
            (folder / path).chmod(0o755)
            continue
        done = subprocess.run(
            ["bash", "-e"], input=block, cwd=folder, env=environment, timeout=LONGEST_S, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        )  # fmt: skip
        assert done.returncode == 0, f"{block}\n{done.stdout[-6000:]}"
        said += f"$ {block}{done.stdout}\n"
    return said


@pytest.mark.kernel
def test_a_microvm_saves_most_of_a_second(tmp_path: Path) -> None:
    said = follow("microvm", tmp_path)
    assert "self-tests of the crypto API" in said and "cmdline_cryptomgr_notests" in said
    assert "verdict: shorter" in said
    assert "the gate has stopped it" in said


@pytest.mark.kernel
def test_a_board_saves_seconds(tmp_path: Path) -> None:
    said = follow("embedded", tmp_path)
    assert "verdict: shorter" in said


def test_an_image_saves_what_its_menu_waits(tmp_path: Path) -> None:
    said = follow("images", tmp_path)
    assert "The highlighted entry will be executed automatically in 1s.\n" in said
    assert "the menu of GRUB waits 2 s for a key, in the phase `loader`; bootloader_menu_none leaves it out\n" in said
    assert re.search(r"bootloader_menu_none\b.*shorter", said)
