"""Machines of the tests that a VMM keeps: what their guests say, what is asked for them, which host takes them up."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from bootlab.cli.app import run
from bootlab.errors import InputError
from bootlab.snapshot.refusals import MANIFEST
from tests.targets.vmm.made import Made

KEPT = "Linux version 6.1.0\nbootlab: mark snapshot\n"
WOKEN = "bootlab: mark woke\nbootlab: fact told IDENTITY\nbootlab: mark ready\n"


def ask_verb(
    made: Made, capsys: pytest.CaptureFixture[str], words: Sequence[str], target: str, more: str
) -> tuple[int, dict[str, Any]]:
    """Run a verb on a system; returns its exit code and the document that it told."""
    path = made.system(target, more)
    capsys.readouterr()
    code = run([words[0], str(path), *words[1:], "--runs", str(made.folder / "runs"), "--json"])
    return code, json.loads(capsys.readouterr().out)


def expect_one_host_alone(made: Made, folder: Path, vmm: str, version: str, take_up: Callable[..., object]) -> None:
    """Expect a machine that lies in `folder` refused by another program, another version and another CPU.

    `take_up`: boots from it, with further words.
    """
    whole = made.binary.read_text()
    made.binary.write_text(whole + "# another\n")
    with pytest.raises(InputError, match=f"{made.binary.name}: another {vmm}"):
        take_up()
    made.binary.write_text(whole)
    manifest = (folder / MANIFEST).read_text()
    for said, words in (
        (manifest.replace(f'"{vmm}": "{version}"', f'"{vmm}": "0.9.0"'), f"{vmm}: 0.9.0 where"),
        (manifest.replace('"CPU": "', '"CPU": "another '), "CPU: another "),
    ):
        assert said != manifest
        (folder / MANIFEST).write_text(said)
        # Also of one whose files nobody reads.
        for more in ((), ("--unread",)):
            with pytest.raises(InputError, match="kept on another host than this one:\n  " + words):
                take_up(*more)
    (folder / MANIFEST).write_text(manifest)
