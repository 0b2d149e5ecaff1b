"""The device tree by which a machine is told of kept RAM, made by the real QEMU: its own, and one node."""

import subprocess
from pathlib import Path

from bootlab.system import System
from bootlab.targets.qemu.kept_tree import make_kept_tree
from tests.system.power_on.test_power_on import SYSTEM, read

ARM64 = (
    SYSTEM.replace('"q35"', '"virt"')
    .replace("cloud-amd64", "cloud-arm64")
    .replace("size_mib = 8", "size_mib = 8, at_mib = 1272")
)


def tree_of(system: System, folder: Path) -> dict[str, str]:
    """Return what a compiler of device trees makes of the tree, by node and name."""
    folder.mkdir()
    tree = make_kept_tree(system, folder)
    assert tree is not None
    done = subprocess.run(["fdtget", "-p", tree, "/pmem@4f800000"], capture_output=True, text=True, check=True)
    values = {}
    for node, name, kind in (
        *(("/pmem@4f800000", name, "s" if name == "compatible" else "x") for name in done.stdout.split()),
        ("/chosen", "kaslr-seed", "x"),
        ("/pl011@9000000", "compatible", "s"),
    ):
        words = ["fdtget", "-t", kind, tree, node, name]
        values[name] = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    return values


def test_the_region_is_a_node_of_the_machines_own_tree_which_each_seed_draws_anew(tmp_path: Path) -> None:
    system = read(tmp_path, ARM64)
    one, again = (tree_of(system, tmp_path / name) for name in ("one", "a,gain"))
    assert one == again and one["reg"] == "0 4f800000 0 800000"
    other = tree_of(system.model_copy(update={"seed": 2}), tmp_path / "other")
    assert other["kaslr-seed"] != one["kaslr-seed"] and other["reg"] == one["reg"]


def test_a_machine_that_is_told_by_its_kernels_words_has_none(tmp_path: Path) -> None:
    assert make_kept_tree(read(tmp_path, SYSTEM), tmp_path) is None
