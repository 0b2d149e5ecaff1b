"""The shape of a call tree: parents, levels and what lies below a node."""

import numpy as np
import pytest

from bootlab.profile.tree.shape import TreeShape


@pytest.mark.parametrize("seed", range(5))
def test_shape(seed: int) -> None:
    dice = np.random.default_rng(seed)
    parent = np.r_[0, dice.integers(0, np.arange(1, 300))]
    shape = TreeShape(parent)
    label = dice.integers(0, 9, len(parent))
    paths = [shape.path(node) for node in range(len(parent))]
    assert shape.depth.tolist() == [len(path) for path in paths]
    assert shape.top.tolist() == [path[0] if path else 0 for path in paths]
    assert shape.size.tolist() == [sum(node in path for path in [[0, *p] for p in paths]) for node in range(300)]
    assert sorted(shape.enter.tolist()) == list(range(300))
    outermost = shape.outermost(label)
    for node, path in enumerate(paths):
        assert (shape.enter[node] > shape.enter[[0, *path[:-1]]]).all() or node == 0
        above = label[[0, *path[:-1]]] if path else label[:0]
        assert outermost[node] == (label[node] not in above)
    for share in (0.0, 0.02, 0.3, 1.0):
        roots = dice.random(len(parent)) < share
        assert shape.at_or_below(roots).tolist() == [bool(roots[[0, *path]].any()) for path in paths]
