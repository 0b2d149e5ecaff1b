"""Every kind that bootlab keeps in its cache is in the table, so that none of its own is taken for somebody else's."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from bootlab.build.eviction.kinds import KINDS, REMOVABLE, Layout

PACKAGE = Path(__file__).parents[3] / "bootlab"


def texts_of(tree: ast.Module, node: ast.expr) -> Iterator[str]:
    """Yield what a kind's name is: a word, or what a name of this module stands for."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Name):
        for one in tree.body:
            targets = (
                one.targets if isinstance(one, ast.Assign) else [one.target] if isinstance(one, ast.AnnAssign) else []
            )
            value = one.value if isinstance(one, ast.Assign | ast.AnnAssign) else None
            if any(isinstance(target, ast.Name) and target.id == node.id for target in targets) and value is not None:
                yield from texts_of(tree, value)


@cache
def named_kinds() -> tuple[set[str], set[str]]:
    """Return each kind that some module makes or finds in a cache, and each folder that one names below its root."""
    made, named = set[str](), set[str]()
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text()
        if "cache" not in text:
            continue
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) >= 2:
                if node.func.attr in ("make", "find") and "cache" in ast.unparse(node.func.value).lower():
                    made.update(texts_of(tree, node.args[0]))
            elif isinstance(node, ast.BinOp) and ast.unparse(node.left).endswith("cache.root"):
                named.update(texts_of(tree, node.right))
    return made, named


def test_every_kind_that_is_made_is_in_the_table_and_no_other() -> None:
    made, _ = named_kinds()
    # The forms of source packages are told by their table.
    made = made | {"source-package", "source-tarball"}
    assert made == {name for name, kind in KINDS.items() if kind.layout is Layout.ENTRIES}


def test_every_folder_that_is_made_by_other_means_is_in_the_table() -> None:
    _, named = named_kinds()
    assert named >= {"kernel-objects", "ccache", "zig", "bisect", "kernel-trees", "cluster-log"}
    assert named <= KINDS.keys(), "a folder that `bootlab cache` would call somebody else's"


def test_each_says_what_it_holds_and_why_it_stays() -> None:
    for kind in KINDS.values():
        assert kind.holds and (kind.layout is Layout.LEFT_ALONE) == bool(kind.why_left)
        assert (kind.name in REMOVABLE) == (kind.layout is not Layout.LEFT_ALONE)
