"""Why a step is longer: the functions that are new or grew from one profile to the next."""

from typing import Final

from bootlab.findings.analysis import Analysis
from bootlab.ledger.bisect.result import GrownFunction
from bootlab.profile.tree.call_tree import LEAVES
from bootlab.profile.tree.differential import FunctionDifference, compare_trees

_FUNCTIONS: Final = 15


def grown_functions(before: Analysis, after: Analysis) -> list[GrownFunction]:
    """Return the functions that differ up to ready, the largest change of their own first, at most fifteen."""
    functions = compare_trees(before.tree, after.tree).functions("elapsed")
    changed = [one for one in functions if one.name not in LEAVES and _differs(one)]
    return [
        GrownFunction(
            name=one.name,
            before_ns=one.self_before,
            after_ns=one.self_after,
            total_before_ns=one.total_before,
            total_after_ns=one.total_after,
        )
        for one in changed[:_FUNCTIONS]
    ]


def _differs(one: FunctionDifference) -> bool:
    return one.self_before != one.self_after or one.total_before != one.total_after
