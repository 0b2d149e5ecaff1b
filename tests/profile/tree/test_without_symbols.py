"""Code without a symbol: one thing where its addresses differ, and as it was where they agree."""

from bootlab.profile.recorded.reader import parse_profile
from bootlab.profile.recorded.record_types import Space
from bootlab.profile.tree.call_tree import CallTree, build_call_tree
from bootlab.profile.tree.differential import compare_trees
from bootlab.profile.tree.without_symbols import as_one, moved_stages
from tests.profile.conftest import ProfileWriter


def boot(firmware: int, decompressor: int = 0x1000) -> CallTree:
    """A boot whose firmware lies at an address: a function of it calls another, and that the first one."""
    writer = ProfileWriter()
    one, other = (f"firmware@{firmware + offset:#x}" for offset in (0, 0x40))
    writer.spend(f"[firmware];{one}", 100, space=Space.STAGE)
    writer.spend(f"[firmware];{one};{other}", 30, space=Space.STAGE)
    writer.spend(f"[firmware];{one};{other};{one}", 5, space=Space.STAGE)
    writer.spend(f"[decompressor];decompressor@{decompressor:#x}", 7, space=Space.STAGE)
    return build_call_tree(parse_profile(writer.end(), writer.functions, 0))


def test_a_stage_that_moved_is_one_function() -> None:
    low, high = boot(0x0EFB845), boot(0x1EFFB845)
    assert moved_stages((low, high)) == {"firmware"}
    both = compare_trees(low, high)
    assert not both.difference("instructions").any()
    rows = {one.name: (one.self_before, one.self_after, one.total_before) for one in both.functions()}
    assert rows["firmware, code without symbols"] == (135, 135, 135), "a call of itself counts once"
    assert rows["decompressor@0x1000"] == (7, 7, 7)
    assert not any(name.startswith("firmware@") for name in rows)


def test_a_stage_that_stayed_keeps_its_addresses() -> None:
    assert moved_stages((boot(0xE0000), boot(0xE0000))) == frozenset()
    names = {one.name for one in compare_trees(boot(0xE0000), boot(0xE0000)).functions()}
    assert {"firmware@0xe0000", "firmware@0xe0040"} <= names


def test_every_stage_at_once() -> None:
    found = {one.name: one.total_instructions for one in as_one(boot(0xE0000)).top_functions()}
    assert found["firmware, code without symbols"] == 135
    assert found["decompressor, code without symbols"] == 7
