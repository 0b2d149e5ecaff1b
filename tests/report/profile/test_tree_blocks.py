"""A call tree as a block of a page: what is summed up keeps its sum."""

from bootlab.profile.recorded.profile import Profile
from bootlab.report.profile.shown_parts import parts_of
from bootlab.report.profile.tree_blocks import number_tree, tree_block
from tests.report.analysed import analysis_of
from tests.report.profile.blocks import read_block, stacks


def test_what_is_summed_up_keeps_its_sum(long_boot: Profile) -> None:
    analysis = analysis_of(long_boot)
    numbering = number_tree(long_boot, analysis.whole_tree, most=500)
    assert len(numbering.drawn) < 1200 < len(analysis.whole_tree)
    block = read_block(tree_block(long_boot, numbering, parts_of(long_boot, analysis.record.marks)))
    assert "[pruned]" in block["columns"]["names"]
    for what, whole in (("instructions", "instructions"), ("waited", "elapsed")):
        drawn, exact = (
            {path: weight for path, weight in found if "[pruned]" not in path}
            for found in (stacks(block, 0, what).items(), numbering.drawn.folded(whole))
        )
        if what == "instructions":
            assert drawn == exact
        total = int(analysis.whole_tree.own(whole).sum()) - (what == "waited") * long_boot.end_instructions
        assert sum(stacks(block, 0, what).values()) == total
