"""`scripts/uclibc-compiler`: what it refuses. Its build takes a source tree of uClibc-ng, which no package brings."""

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/uclibc-compiler"


def called(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPT, *words], capture_output=True, text=True, check=False)


def test_it_is_told_how_it_is_used() -> None:
    done = called()
    assert done.returncode == 2 and done.stderr.startswith("usage: scripts/uclibc-compiler SOURCE DIR")


@pytest.mark.parametrize("made", [True, False])
def test_what_it_cannot_use_is_left_as_it_is(tmp_path: Path, made: bool) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    if made:
        defconfig = source / "extra/Configs/defconfigs/arm/defconfig"
        defconfig.parent.mkdir(parents=True)
        defconfig.write_text("")
        out.mkdir()
        (out / "mine").write_text("")
    done = called(str(source), str(out))
    assert done.returncode == 2
    said = f"{out}: is there already" if made else f"{source}: no source tree of uClibc-ng"
    assert f"uclibc-compiler: error: {said}" in done.stderr
    assert out.exists() == made and (not made or (out / "mine").exists())
