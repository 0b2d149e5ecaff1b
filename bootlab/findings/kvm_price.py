"""What one profiled boot would make KVM do, and what that costs on a host: exits by class, pages, and their price.

The account is the boot's own and the same under every model; a price is that account times a model's figures. It is no
part of the boot's time, unless the clock was charged by the model as it ran (`charged`).
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bootlab.price.host_model import HostModel, expect_arch
from bootlab.price.memory import first_of_piece, huge_spans, in_spans
from bootlab.price.rules import DEFAULT_RULES, RuleSet, find_exits, read_rule_set
from bootlab.price.traps import TrapKind
from bootlab.profile.recorded.profile import Profile
from bootlab.system import System

_FUNCTIONS: Final = 200


@dataclass(frozen=True, eq=False)
class KvmAccount:
    """What a boot up to some slice would leave its guest for, and the pages that it touches first.

    `exits`: node x class, in the order of the rules' classes. `time_bound`: the same of those that follow from how
    long other things take. `pages`, `chunks`: node -> first touches of pages of 4 KiB, and where huge pages back
    the memory: of chunks of 2 MiB; `small`: node -> those pages of 4 KiB that are left then, outside of such chunks.
    """

    rules: RuleSet
    exits: NDArray[np.int64]
    time_bound: NDArray[np.int64]
    pages: NDArray[np.int64]
    chunks: NDArray[np.int64]
    small: NDArray[np.int64]
    not_counted: int
    """Traps and pages that the plugin had no memory for."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the classes, in the order of `exits`."""
        return tuple(self.rules.classes)

    @property
    def by_class(self) -> dict[str, int]:
        """Return class -> exits of it, those that there are."""
        return self._named(self.exits)

    @property
    def time_bound_by_class(self) -> dict[str, int]:
        """Return the same of those that follow from how long other things take."""
        return self._named(self.time_bound)

    @property
    def n_exits(self) -> int:
        """Return all exits."""
        return int(self.exits.sum())

    @property
    def n_pages(self) -> int:
        """Return the pages of 4 KiB."""
        return int(self.pages.sum())

    @property
    def n_huge_faults(self) -> int:
        """Return the faults where huge pages back the memory: chunks, and pages outside of them."""
        return int(self.chunks.sum() + self.small.sum())

    def _named(self, counts: NDArray[np.int64]) -> dict[str, int]:
        totals = counts.sum(axis=0).tolist()
        return {name: count for name, count in zip(self.names, totals, strict=True) if count}


@dataclass(frozen=True, slots=True)
class Cost:
    """A price in ns, by what it is for. Instructions and idle time have the model's and the virtual clock's length."""

    instructions_ns: int
    idle_ns: int
    exits_ns: int
    faults_ns: int

    @property
    def total_ns(self) -> int:
        """Return the whole price."""
        return self.instructions_ns + self.idle_ns + self.exits_ns + self.faults_ns

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            self.instructions_ns + other.instructions_ns,
            self.idle_ns + other.idle_ns,
            self.exits_ns + other.exits_ns,
            self.faults_ns + other.faults_ns,
        )


@dataclass(frozen=True, slots=True)
class PhaseExits:
    """One phase: what it executed, waited and left its guest for. `costs`: model's name -> price, pages of 4 KiB."""

    name: str
    instructions: int
    idle_ns: int
    exits: dict[str, int]
    pages: int
    huge_faults: int
    costs: dict[str, Cost]


@dataclass(frozen=True, slots=True)
class FunctionExits:
    """One function: exits and first touches of its own. `exit_ns`: model's name -> price of both, pages of 4 KiB."""

    name: str
    exits: dict[str, int]
    pages: int
    exit_ns: dict[str, int]


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """One model's price of the boot up to ready, where pages of 4 KiB back the guest's memory, and huge ones."""

    model: HostModel
    small: Cost
    huge: Cost
    charged: bool
    """The boot's own clock was charged by this model."""


@dataclass(frozen=True, eq=False)
class KvmPrice:
    """The price of one boot, up to ready or where it ended."""

    account: KvmAccount
    instructions: int
    idle_ns: int
    prices: tuple[ModelPrice, ...]
    phases: tuple[PhaseExits, ...]
    profile: Profile

    @cached_property
    def functions(self) -> list[FunctionExits]:
        """Return who exits and who touches memory first, by name: the dearest under the first model first."""
        account, models = self.account, [one.model for one in self.prices]
        names = self.profile.names
        nodes = np.flatnonzero(account.exits.any(axis=1) | (account.pages > 0))
        rows: dict[str, tuple[Counter[str], list[int]]] = {}
        for node in nodes.tolist():
            counts, pages = rows.setdefault(names[self.profile.nodes["function"][node]], (Counter(), [0]))
            for index in np.flatnonzero(account.exits[node]).tolist():
                counts[account.names[index]] += int(account.exits[node, index])
            pages[0] += int(account.pages[node])
        found = [
            FunctionExits(
                name,
                dict(counts.most_common()),
                pages[0],
                {model.name: _exits_ns(model, counts) + pages[0] * model.fault.small.ns for model in models},
            )
            for name, (counts, pages) in rows.items()
        ]
        first = models[0].name if models else None
        return sorted(found, key=lambda one: (-one.exit_ns[first] if first else -sum(one.exits.values()), one.name))

    def node_ns(self, model: HostModel) -> NDArray[np.int64]:
        """Return node -> price of its own exits and first touches, with pages of 4 KiB."""
        each = np.array([model.exit_ns[name] for name in self.account.names], dtype=np.int64)
        ns: NDArray[np.int64] = self.account.exits @ each + self.account.pages * model.fault.small.ns
        return ns


def price_profile(
    profile: Profile,
    system: System,
    slices: range,
    phases: Iterable[tuple[str, int, int]],
    models: Iterable[HostModel],
    charged: str | None = None,
) -> KvmPrice | None:
    """Return what a profiled boot costs under each model; None for a boot whose traps were not counted.

    `slices`: what counts. `phases`: name, start and end in ns. `charged`: identity of the model that the
    boot's clock was charged by. The account goes by the rules of the first model. Raises InputError for a model of
    another architecture.
    """
    models = tuple(models)
    if not len(profile.traps) and not len(profile.pages):
        return None
    for model in models:
        expect_arch(model, system.machine.arch, system.name)
    rules = _rules(system, models)
    account = _account(profile, system, slices, rules)
    pieces = [profile.slices[index] for index in slices]
    instructions = sum(one.end_instructions - one.start_instructions for one in pieces)
    idle_ns = _idle_ns(profile, 0, pieces[-1].end_ns if pieces else 0)
    prices = []
    for model in models:
        own = account if model.rules == rules.name else _account(profile, system, slices, read_rule_set(model.rules))
        small, huge = (_cost(model, own, instructions, idle_ns, memory) for memory in (False, True))
        prices.append(ModelPrice(model, small, huge, model.identity == charged))
    return KvmPrice(
        account, instructions, idle_ns, tuple(prices), tuple(_phases(profile, system, slices, phases, models)), profile
    )


def _rules(system: System, models: tuple[HostModel, ...]) -> RuleSet:
    # Where traps were counted, the architecture is one that has rules.
    return read_rule_set(models[0].rules if models else DEFAULT_RULES[system.machine.arch])


def _account(profile: Profile, system: System, slices: range, rules: RuleSet) -> KvmAccount:
    traps = profile.traps[_within(profile.traps["slice"], slices)]
    # A page is touched first once: what counts as the first of its chunk is decided over the whole boot.
    spans = huge_spans(system.machine.type.value, system.machine.memory_mib, system.machine.shape)
    first, huge = first_of_piece(profile.pages["page"], spans), in_spans(profile.pages["page"], spans)
    wanted = _within(profile.pages["slice"], slices)
    node, n_nodes = profile.pages["node"], len(profile.nodes)
    exits = find_exits(rules.on(system.machine.type.value, system.machine.shape), traps)
    counted = np.zeros((n_nodes, len(rules.classes)), dtype=np.int64)
    bound = np.zeros_like(counted)
    real = exits.exit_class >= 0
    np.add.at(counted, (traps["node"][real], exits.exit_class[real]), traps["count"][real])
    real &= exits.time_bound
    np.add.at(bound, (traps["node"][real], exits.exit_class[real]), traps["count"][real])

    def of_nodes(chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(node[wanted & chosen], minlength=n_nodes).astype(np.int64)

    return KvmAccount(
        rules,
        counted,
        bound,
        pages=of_nodes(np.ones(len(node), dtype=np.bool_)),
        chunks=of_nodes(first & huge),
        small=of_nodes(~huge),
        not_counted=int(traps["count"][traps["kind"] == TrapKind.LOST].sum()),
    )


def _within(slices: NDArray[np.int64], wanted: range) -> NDArray[np.bool_]:
    return (slices >= wanted.start) & (slices < wanted.stop)


def _idle_ns(profile: Profile, start_ns: int, end_ns: int) -> int:
    begins, ends = profile.idles["start_ns"], profile.idles["end_ns"]
    return int(np.maximum(np.minimum(ends, end_ns) - np.maximum(begins, start_ns), 0).sum())


def _exits_ns(model: HostModel, counts: dict[str, int]) -> int:
    return sum(count * model.exit[name].ns for name, count in counts.items())


def _cost(model: HostModel, account: KvmAccount, instructions: int, idle_ns: int, huge: bool) -> Cost:
    faults = account.n_pages * model.fault.small.ns
    if huge:
        faults = int(account.chunks.sum()) * model.fault.huge.ns + int(account.small.sum()) * model.fault.small.ns
    return Cost(round(instructions * model.instruction.ns), idle_ns, _exits_ns(model, account.by_class), faults)


def _phases(
    profile: Profile,
    system: System,
    slices: range,
    phases: Iterable[tuple[str, int, int]],
    models: tuple[HostModel, ...],
) -> Iterable[PhaseExits]:
    first = slices.start
    for name, start_ns, end_ns in phases:
        stop = first
        while stop < slices.stop and profile.slices[stop].end_ns <= end_ns:
            stop += 1
        own = range(first, stop)
        if not own:
            continue
        first = stop
        instructions = sum(profile.slices[i].end_instructions - profile.slices[i].start_instructions for i in own)
        idle_ns = _idle_ns(profile, start_ns, end_ns)
        rules = _rules(system, models)
        account = _account(profile, system, own, rules)
        accounts = {one: _account(profile, system, own, read_rule_set(one)) for one in {one.rules for one in models}}
        costs = {one.name: _cost(one, accounts[one.rules], instructions, idle_ns, False) for one in models}
        yield PhaseExits(name, instructions, idle_ns, account.by_class, account.n_pages, account.n_huge_faults, costs)


def price_document(price: KvmPrice) -> dict[str, Any]:
    """Return the price as plain data for JSON (docs/formats.md); times are ns."""
    account = price.account
    return {
        "rules": {"name": account.rules.name, "proved": account.rules.proved, "how": account.rules.how},
        "exits": account.by_class,
        "time_bound": account.time_bound_by_class,
        "pages_4K": account.n_pages,
        "chunks_2M": int(account.chunks.sum()),
        "pages_4K_beside_chunks": int(account.small.sum()),
        "not_counted": account.not_counted,
        "instructions": price.instructions,
        "idle_ns": price.idle_ns,
        "prices": [
            {
                "model": one.model.name,
                "identity": one.model.identity,
                "rules": one.model.rules,
                "charged": one.charged,
                "4K": {**asdict(one.small), "total_ns": one.small.total_ns},
                "2M": {**asdict(one.huge), "total_ns": one.huge.total_ns},
            }
            for one in price.prices
        ],
        "phases": [
            {
                "name": one.name,
                "instructions": one.instructions,
                "idle_ns": one.idle_ns,
                "exits": one.exits,
                "pages_4K": one.pages,
                "faults_2M": one.huge_faults,
                "price_ns": {name: cost.total_ns for name, cost in one.costs.items()},
            }
            for one in price.phases
        ],
        "functions": [
            {"name": one.name, "exits": one.exits, "pages_4K": one.pages, "price_ns": one.exit_ns}
            for one in price.functions[:_FUNCTIONS]
        ],
    }
