"""A VMM's program on this host: which one it is, and what the host lacks for it."""

from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.errors import MissingTool
from bootlab.system import Firecracker, System, read_system
from bootlab.targets.firecracker.identity import FIRECRACKER
from bootlab.targets.vmm import program
from bootlab.targets.vmm.program import expect_host, find_program, probe_version
from tests.targets.vmm.made import FAKED, Made


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path)


def target_of(system: System) -> Firecracker:
    assert isinstance(system.target, Firecracker)
    return system.target


def test_its_version_is_what_it_says(made: Made) -> None:
    found = find_program(target_of(read_system(made.system())).binary)
    assert found == made.binary and probe_version(found, FIRECRACKER) == FAKED["firecracker"].version == "1.15.1"


@pytest.mark.parametrize(
    ("script", "words"),
    [("exit 3", "does not run"), ("echo cloud-hypervisor v40", "no Firecracker"), ("kill -9 $$", "does not run")],
)
def test_another_program_is_none(made: Made, script: str, words: str) -> None:
    made.binary.write_text(f"#!/bin/sh\n{script}\n")
    with pytest.raises(MissingTool, match=rf"target\.binary: .*{words}"):
        probe_version(made.binary, FIRECRACKER)


def test_huge_pages_that_are_not_there_are_told_with_the_way_to_some(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "read_free_pages", lambda: 3)
    system = read_system(made.system('huge_pages = "2M"'))
    with pytest.raises(MissingTool, match="128 MiB take 64 huge pages, and this host has 3 free") as caught:
        expect_host(system, target_of(system), FIRECRACKER, Cache(made.folder / "cache"))
    assert "vm.nr_hugepages=64" in (caught.value.hint or "")
