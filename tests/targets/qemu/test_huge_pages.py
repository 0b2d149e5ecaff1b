"""A system that wants pages which the host has not got is told how to get them, before anything is booted."""

from pathlib import Path

import pytest

from bootlab.errors import InputError, MissingTool
from bootlab.system import System
from bootlab.targets.qemu.huge_pages import expect_pages, read_free_pages


def system(page_size: str, memory_mib: int = 256) -> System:
    return System.model_validate(
        {
            "name": "made-up",
            "machine": {"type": "microvm", "memory_mib": memory_mib, "page_size": page_size},
            "kernel": {"image": "/k"},
            "booted": {"mark": "ready"},
        }
    )


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """A host with 200 huge pages, 150 of them free, 30 of these promised."""
    for name, number in (("nr_hugepages", 200), ("free_hugepages", 150), ("resv_hugepages", 30)):
        (tmp_path / name).write_text(f"{number}\n")
    return tmp_path


def test_enough_pages(pool: Path) -> None:
    assert read_free_pages(pool) == 120
    expect_pages(system("2M", 240), pool=pool)


def test_too_few_pages_name_the_knob_and_its_value(pool: Path) -> None:
    with pytest.raises(MissingTool, match="256 MiB take 128 huge pages, and this host has 120 free") as caught:
        expect_pages(system("2M"), pool=pool)
    assert caught.value.hint is not None and "sysctl vm.nr_hugepages=208" in caught.value.hint


def test_a_host_without_huge_pages(tmp_path: Path) -> None:
    with pytest.raises(MissingTool, match="has 0 free"):
        expect_pages(system("2M"), pool=tmp_path / "none")


def test_memory_must_be_whole_pages(pool: Path) -> None:
    with pytest.raises(InputError, match="machine.memory_mib: 33 MiB"):
        expect_pages(system("2M", 33), pool=pool)


@pytest.mark.parametrize(("shown", "refused"), [("always within_size advise [never] deny force", False),
                                                ("always within_size [advise] never deny force", True),
                                                ("[always] within_size advise never deny force", True)])  # fmt: skip
def test_small_pages_must_stay_small(shown: str, refused: bool, tmp_path: Path) -> None:
    shared = tmp_path / "shmem_enabled"
    shared.write_text(shown)
    if refused:
        with pytest.raises(MissingTool, match='machine.page_size = "4K"'):
            expect_pages(system("4K"), shared=shared)
    else:
        expect_pages(system("4K"), shared=shared)
    expect_pages(system("auto"), shared=shared)
