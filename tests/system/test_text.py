"""A system as text: read again it is the same system, wherever the file lies."""

from pathlib import Path

import pytest

from bootlab.sources import EXAMPLES
from bootlab.system import read_system
from bootlab.system.text import system_text


@pytest.mark.parametrize(
    "name", ["debian-cloud", "microvm", "distribution/on-disk", "services", "camera-board-fast", "inits/units"]
)
def test_what_is_written_is_read_as_the_same_system(name: str, tmp_path: Path) -> None:
    system = read_system(EXAMPLES / f"{name}.toml")
    (tmp_path / "system.toml").write_text(system_text(system))
    assert read_system(tmp_path / "system.toml") == system


def test_relative_paths_lead_to_the_same_files_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    (here / "init").write_text("#!/bin/sh")
    (here / "host.toml").write_text("")
    (here / "mine.toml").write_text(
        '[machine]\ntype = "q35"\nfirmware = "init"\n[clock]\nhost_model = "host.toml"\n[kernel]\nimage = "init"\n'
        '[initramfs]\ninit = "init"\n[initramfs.files]\n"/x" = "init"\n[booted]\nmark = "ready"\n'
    )
    monkeypatch.chdir(here)
    system = read_system(Path("mine.toml"))
    (there / "system.toml").write_text(system_text(system))
    again = read_system(there / "system.toml")
    assert again.kernel.image == again.initramfs.files["/x"] == here / "init"  # type: ignore[union-attr]
    assert again.machine.firmware == str(here / "init")
    assert again.clock.host_model == str(here / "host.toml")
