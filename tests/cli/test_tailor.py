"""Tailorings that are refused before anything is made or booted."""

from pathlib import Path

import pytest

from bootlab.cli.app import run
from bootlab.errors import InputError, StoreError
from bootlab.experiments.store import RunKind, Store

SYSTEM = """name = "made-up"
[machine]
type = "microvm"
[kernel.build]
package = "linux-source-6.12"
[booted]
mark = "ready"
[check]
console = "ok"
"""


def file(tmp_path: Path, text: str = SYSTEM) -> str:
    path = tmp_path / "made-up.toml"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            '[kernel.build]\npackage = "linux-source-6.12"',
            '[kernel]\npackage = "linux-image"',
            "kernel.build: tailoring",
        ),
        ('[check]\nconsole = "ok"', "", "check: without one, everything would look unused"),
        (
            'type = "microvm"',
            'type = "virt"\narchitecture = "riscv64"',
            "machine: a kernel for riscv64 cannot be tailored: its calls cannot be read",
        ),
        ("[booted]", '[clock]\nkind = "wall"\n[booted]', "clock.kind: coverage is exact on the virtual clock only"),
    ],
)
def test_a_system_that_cannot_be_tailored(old: str, new: str, said: str, tmp_path: Path) -> None:
    system = file(tmp_path, SYSTEM.replace(old, new))
    with pytest.raises(InputError, match=said) as failed:
        run(["tailor", system, "--runs", str(tmp_path / "runs")])
    assert system in failed.value.message
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--keep", "ext4"], "--keep ext4: not the name of an option"),
        (["--give-up", "security"], "--give-up security: not the name of an option"),
        (["--keep", "mitigations"], "--keep mitigations: not the name of an option"),
        (["--output", "nowhere/at/all.config"], "--output nowhere/at/all.config: not a place for a file"),
        (["--resume", "7"], "7: no such run"),
        (["--try", "LOG_BUF_SHIFT"], "--try LOG_BUF_SHIFT: not an option with its value"),
        (["--try", "LOG_BUF_SHIFT="], "--try LOG_BUF_SHIFT=: not an option with its value"),
        (["--try", "HZ=100", "--try", "CONFIG_HZ=250"], "--try CONFIG_HZ=250: HZ=100 is tried already"),
    ],
)
def test_options_that_cannot_be(words: list[str], said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        run(["tailor", file(tmp_path), "--runs", str(tmp_path / "runs"), *words])
    assert not (tmp_path / "runs").exists()


def test_a_run_that_did_not_finish_says_how_to_go_on(tmp_path: Path) -> None:
    unfinished = Store(tmp_path).start(RunKind.TAILOR, "made-up", {})
    with pytest.raises(InputError, match="was interrupted and has no result yet") as caught:
        run(["report", str(unfinished.path)])
    assert caught.value.hint is not None and "bootlab tailor SYSTEM --resume" in caught.value.hint
    unfinished.result.write_text('{"schema": "bootlab.try/1"}')
    with pytest.raises(StoreError, match=r"result\.json: damaged"):
        run(["report", str(unfinished.path)])
