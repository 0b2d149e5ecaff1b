"""A profile's call tree weighed by what would leave a guest of KVM: its exits, its first touches, and their price."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bootlab.findings.analysis import Analysis
from bootlab.profile.tree.call_tree import CallTree


@dataclass(frozen=True, slots=True)
class WeighedTree:
    """A call tree whose elapsed time is something else: `what`, in `unit`. `file`: what its files are called after."""

    file: str
    what: str
    unit: str
    tree: CallTree


def kvm_trees(analysis: Analysis) -> list[WeighedTree]:
    """Return the tree by exits, by pages and by the price under each model; none where they were not counted."""
    price = analysis.price
    if price is None:
        return []
    account = price.account
    found = [
        WeighedTree("exits", "exits", "exits", _weighed(analysis.tree, account.exits.sum(axis=1))),
        WeighedTree("pages", "pages touched first", "pages", _weighed(analysis.tree, account.pages)),
    ]
    for one in price.prices:
        name = one.model.name
        words = f"exits and pages, priced under {name}"
        found.append(WeighedTree(f"price-{name}", words, "ns", _weighed(analysis.tree, price.node_ns(one.model))))
    return found


def _weighed(tree: CallTree, own: NDArray[np.int64]) -> CallTree:
    # What the tree has beyond the profile's nodes are its waits.
    return replace(tree, self_elapsed_ns=np.r_[own, np.zeros(len(tree) - len(own), dtype=np.int64)])
