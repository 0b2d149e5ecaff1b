"""Firecracker as a target keeps the promises of every target."""

from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError, MissingTool
from bootlab.profile.asked.request import ProfileRequest
from bootlab.system import System, read_system
from bootlab.targets.firecracker.identity import FIRECRACKER
from bootlab.targets.registry import target_of
from bootlab.targets.target import BootRequest
from bootlab.targets.vmm import program
from bootlab.targets.vmm.program import expect_host
from tests.targets.vmm.made import Made


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path)


def prepared_of(made: Made, *words: str):  # type: ignore[no-untyped-def]
    system = read_system(made.system(*words))
    return target_of(system).prepare(Workshop(Cache(made.folder / "cache")), system, BootRequest())


def test_what_decides_a_boot_is_in_its_key_and_where_its_program_lies_is_not(made: Made) -> None:
    first = prepared_of(made)
    moved = made.folder / "moved"
    moved.write_bytes(made.binary.read_bytes())
    moved.chmod(0o755)
    made.binary = moved
    assert prepared_of(made).key == first.key
    assert prepared_of(made, "smt = true").key != first.key
    moved.write_text(moved.read_text() + "# another\n")
    assert prepared_of(made).key != first.key


def test_what_it_cannot_do_is_refused(made: Made) -> None:
    system = read_system(made.system())
    target, shop = target_of(system), Workshop(Cache(made.folder / "cache"))
    with pytest.raises(InputError, match="a profile counts instructions"):
        target.prepare(shop, system, BootRequest(profile=ProfileRequest()))
    prepared = target.prepare(shop, system, BootRequest())
    assert target.tools(system) == prepared.tools and target.telling(system) is None
    assert target.lacks(system, system) is None and target.doubts(system) == []
    assert prepared.bound_here is not None and prepared.alone is None


def test_a_host_without_kvm_is_told_so(made: Made, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    system = System.model_validate({**dict(read_system(made.system())), "target": {"kind": "firecracker"}})
    monkeypatch.setattr(program, "_KVM", tmp_path / "kvm")
    program._kvm_words.cache_clear()
    with pytest.raises(MissingTool, match="does not exist") as caught:
        expect_host(system, system.target, FIRECRACKER, Cache(tmp_path / "cache"))  # type: ignore[arg-type]
    assert "target.probe" not in caught.value.message and 'clock.kind = "virtual"' in (caught.value.hint or "")
    program._kvm_words.cache_clear()
