"""What is new or grew in what a boot does: functions, initcalls, modules, processes and waits, from profiles.

Another boot of one system does everything a little otherwise. So the side that is judged is profiled twice, the second
time with a null change; what counts is more in both boots than it was, by more than these two differ. That is exact for
what always takes the same instructions, so it shows however small it is; and what moves for no reason is left out.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bootlab.experiments.verdict import exceeds_spread
from bootlab.findings.analysis import Analysis
from bootlab.ledger.gate.result import Grown, GrownKind
from bootlab.profile.tables.processes import task_instructions
from bootlab.profile.tree.call_tree import LEAVES, CallTree
from bootlab.profile.tree.differential import task_name
from bootlab.profile.tree.without_symbols import as_one, moved_stages
from bootlab.timeline import marks as m

Costs = Mapping[tuple[GrownKind, str], int]
"""Kind and name -> ns up to ready."""


@dataclass(frozen=True, slots=True)
class BootWork:
    """What one boot did up to ready: its call tree, and what everything else took."""

    tree: CallTree
    costs: Costs


def grown_work(before: BootWork, after: BootWork, again: BootWork) -> list[Grown]:
    """Return what a boot does that it did not do, or does longer. `again`: of the system after, with a null change."""
    sides = (before, after, again)
    # Code without a symbol is named by where it lies, which is elsewhere in another kernel.
    moved_on = moved_stages([one.tree for one in sides])
    return grown_costs(*({**_functions(as_one(one.tree, moved_on)), **one.costs} for one in sides))


def grown_costs(before: Costs, after: Costs, again: Costs) -> list[Grown]:
    """Return what costs more `after` and `again` than `before`, by more than these two differ."""
    grown = []
    for (kind, name), cost in after.items():
        was, other = before.get((kind, name)), again.get((kind, name), 0)
        least = min(cost, other)
        if exceeds_spread(least - (was or 0), abs(cost - other)) and least > 0:
            grown.append(Grown(kind=kind, name=name, before=was, after=cost))
    return grown


def work_of(analysis: Analysis) -> BootWork:
    """Return what a boot did up to ready."""
    end_ns, profile = analysis.end_ns, analysis.profile
    costs: Counter[tuple[GrownKind, str]] = Counter()
    called = analysis.initcalls
    calls = [(GrownKind.INITCALL, one.name, one.start_ns, one.end_ns) for one in called.initcalls]
    calls += [(GrownKind.MODULE, one.name, one.start_ns, one.end_ns) for one in called.modules]
    for kind, name, began_ns, ended_ns in calls:
        if began_ns < end_ns:
            costs[kind, name] += min(ended_ns, end_ns) - began_ns
    spent = task_instructions(profile, profile.up_to(m.READY))
    for process in (*analysis.processes.processes, *analysis.processes.kernel_threads):
        if process.started_ns < end_ns:
            programs = [path for t_ns, path in process.programs if t_ns < end_ns]
            name = programs[-1] if programs else task_name(f"{process.name}-{process.pid}")
            costs[GrownKind.PROCESS, name] += int(spent[process.task]) << profile.shift
    for wait in analysis.waits.waits:
        if wait.start_ns < end_ns:
            where = f" in {wait.function}" if wait.function else ""
            costs[GrownKind.WAIT, task_name(wait.name) + where] += min(wait.until_ns, end_ns) - wait.start_ns
    return BootWork(analysis.tree, costs)


def in_order(grown: Iterable[Grown]) -> list[Grown]:
    """Return them as they are shown: by kind, what is new first, then by how much."""
    kinds = list(GrownKind)
    return sorted(grown, key=lambda one: (kinds.index(one.kind), one.before is not None, -one.more, one.name))


def _functions(tree: CallTree) -> Counter[tuple[GrownKind, str]]:
    # Their own time; tasks and stages, which the tree begins with, are no functions.
    tops = {tree.name(node) for node in tree.children(0)}
    costs: Counter[tuple[GrownKind, str]] = Counter()
    for one in tree.top_functions():
        if one.name not in LEAVES and one.name not in tops:
            costs[GrownKind.FUNCTION, one.name] += one.self_elapsed_ns
    return costs
