"""Cloud Hypervisor as a target keeps the promises of every target."""

from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.profile.asked.request import ProfileRequest
from bootlab.system import read_system
from bootlab.targets.registry import target_of
from bootlab.targets.target import BootRequest, Prepared
from tests.targets.vmm.made import Made


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path, "cloud-hypervisor")


def prepared_of(made: Made, *words: str) -> Prepared:
    system = read_system(made.system(*words))
    return target_of(system).prepare(Workshop(Cache(made.folder / "cache")), system, BootRequest())


def test_what_decides_a_boot_is_in_its_key_and_where_its_program_lies_is_not(made: Made) -> None:
    first = prepared_of(made)
    moved = made.folder / "moved"
    moved.write_bytes(made.binary.read_bytes())
    moved.chmod(0o755)
    made.binary = moved
    assert prepared_of(made).key == first.key
    assert prepared_of(made, "prefault = true").key != first.key
    moved.write_text(moved.read_text() + "# another\n")
    assert prepared_of(made).key != first.key


def test_what_it_cannot_do_is_refused(made: Made) -> None:
    system = read_system(made.system())
    target, shop = target_of(system), Workshop(Cache(made.folder / "cache"))
    with pytest.raises(InputError, match="a profile counts instructions"):
        target.prepare(shop, system, BootRequest(profile=ProfileRequest()))
    prepared = target.prepare(shop, system, BootRequest())
    assert list(prepared.tools) == ["cloud-hypervisor"] and target.tools(system) == prepared.tools
    assert prepared.bound_here is not None and prepared.alone is None
    prepared.expect_keepable()
    with pytest.raises(InputError, match="target.api: without its API"):
        prepared_of(made, "api = false").expect_keepable()
