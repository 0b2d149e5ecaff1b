"""A call tree weighed by exits, pages and price: each node keeps its own, and waits have none."""

from pathlib import Path

from bootlab.experiments.recorded_profiles import read_profile_run
from bootlab.price.host_model import read_host_model
from bootlab.report.exports.kvm import kvm_trees
from tests.cli.conftest import write_profile_run


def test_each_weight_is_a_tree_of_its_own(tmp_path: Path) -> None:
    analysis = read_profile_run(write_profile_run(tmp_path, traps=True), models=[read_host_model("lean")])
    trees = {one.file: one for one in kvm_trees(analysis)}
    assert list(trees) == ["exits", "pages", "price-lean"]
    stacks = {name: list(one.tree.folded("elapsed")) for name, one in trees.items()}
    stack = "swapper/0-0;start_kernel"
    assert stacks == {"exits": [(stack, 1234)], "pages": [(stack, 1)], "price-lean": [(stack, 1234 * 2500 + 1460)]}
    assert [one.unit for one in trees.values()] == ["exits", "pages", "ns"]


def test_a_profile_without_them_has_no_trees(tmp_path: Path) -> None:
    assert kvm_trees(read_profile_run(write_profile_run(tmp_path))) == []
