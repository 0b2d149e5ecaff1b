"""What each function took in a profile, up to ready, as a file that a ledger's site keeps when the profile has gone."""

import json
from typing import Final

from bootlab.experiments.recorded_profiles import read_profile_run
from bootlab.experiments.store import Run
from bootlab.kept_file import UNREADABLE, parse_kept
from bootlab.profile.tree.call_tree import LEAVES
from bootlab.profile.tree.differential import task_name

FunctionCosts = dict[str, tuple[int, int]]
"""Function -> ns of its own, and with all that it called."""

_LARGEST: Final = 1 << 53
"""A script of the page holds no larger whole number exactly."""


def function_costs(run: Run) -> FunctionCosts:
    """Return what each function of a profiled boot took. Raises InputError for a run without one, StoreError."""
    costs: FunctionCosts = {}
    for one in read_profile_run(run).tree.top_functions():
        if one.name not in LEAVES:
            # Tasks are named with a number that means nothing in another boot.
            name = task_name(one.name)
            own, total = costs.get(name, (0, 0))
            costs[name] = (own + one.self_elapsed_ns, total + one.total_elapsed_ns)
    return costs


def costs_text(costs: FunctionCosts) -> str:
    """Return the file: JSON, a function a line."""
    return json.dumps(costs, indent=0, separators=(",", ":")).replace("[\n", "[").replace(",\n\n", ",\n") + "\n"


def parse_costs(text: str) -> FunctionCosts:
    """Return what the file says. Raises ValueError for a damaged one."""
    try:
        costs = {str(name): (own, total) for name, (own, total) in parse_kept(text).items()}
    except UNREADABLE as error:
        raise ValueError("no table of functions") from error
    if not all(isinstance(time, int) and 0 <= time < _LARGEST for both in costs.values() for time in both):
        raise ValueError("a time that is none")
    return costs
