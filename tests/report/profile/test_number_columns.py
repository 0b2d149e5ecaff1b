"""Columns of numbers and texts as a page carries them: read back as its scripts do."""

import numpy as np

from bootlab.report.profile.number_columns import Pack, varints
from tests.report.profile.blocks import read_block, read_column


def test_numbers_of_any_size_survive() -> None:
    numbers = np.array([0, 1, 127, 128, 16_383, 16_384, 2**31, 2**53, 2**63], dtype=np.uint64)
    assert read_column(varints(numbers), {"form": "numbers", "count": len(numbers)}) == numbers.tolist()
    assert varints(np.zeros(0, dtype=np.uint64)) == b""
    pack = Pack()
    signed = np.array([5, 2, -9, 1 << 40, 0], dtype=np.int64)
    pack.differences("a", signed)
    pack.texts("b", ["one\ntwo", "\N{SNOWMAN}"])
    columns = read_block(pack.block("profile-tree", {}))["columns"]
    assert columns["a"] == signed.tolist()
    assert columns["b"] == ["one\\x0atwo", "\N{SNOWMAN}"]
