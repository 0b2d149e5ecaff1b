"""What the scripts of a system's page are given: its entries, and what every function took where there are profiles.

Functions are kept one after the other, each with its times at all profiles: what did not change from one profile to the
next, which is nearly all of it, is a column of zeros once number_columns.py has made differences of it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from bootlab.ledger.entry import LedgerEntry
from bootlab.ledger.function_costs import FunctionCosts
from bootlab.ledger.steps import series_of
from bootlab.report.ledger.history_chart import phase_columns
from bootlab.report.ledger.site import SystemSite, label_of
from bootlab.report.ledger.text import commit_words, verdict_words
from bootlab.report.parts.figures import short_hash, visible
from bootlab.report.parts.markup import Html
from bootlab.report.profile.number_columns import Pack

ENTRIES: Final = "ledger-entries"
FUNCTIONS: Final = "ledger-functions"
MOST_TIMES: Final = 4_000_000
"""Functions times profiles: with more a phone has no memory for the page, so only the latest profiles are in it."""


def entries_block(site: SystemSite, profiles: Mapping[str, int]) -> Html:
    """Return the entries for the scripts. `profiles`: key of an entry -> which profile in the block of functions."""
    place = {entry.key: number for number, entry in enumerate(site.history.entries)}
    series = [[place[entry.key] for entry in one] for one in series_of(site.history.entries)]
    before: dict[int, int] = {}
    for line in series:
        last: int | None = None
        for number in line:
            if last is not None:
                before[number] = last
            if site.history.entries[number].ready_ns is not None:
                last = number
    columns = phase_columns(site.history.entries)
    entries: list[dict[str, Any]] = []
    for number, step in enumerate(site.steps):
        entry = step.entry
        entries.append({
            "label": label_of(entry), "commit": commit_words(entry), "name": visible(entry.commit),
            "note": visible(entry.note), "ready": entry.ready_ns, "spread": entry.spread_ns,
            "outcome": visible(entry.outcome), "detail": visible(entry.detail),
            "phases": [column[number] for column in columns.values()],
            "inputs": {visible(name): short_hash(digest) for name, digest in entry.inputs.items()},
            "sizes": {visible(name): size for name, size in entry.sizes.items()},
            "instructions": entry.instructions, "idle": entry.idle_ns, "saved": step.saved_ns,
            "verdict": verdict_words(step), "before": before.get(number), "profile": profiles.get(entry.key),
            "links": _links(site, entry),
        })  # fmt: skip
    facts = {"system": site.name, "phases": [visible(name) for name in columns], "series": series, "entries": entries}
    return Pack().block(ENTRIES, facts)


def functions_block(site: SystemSite) -> tuple[Html, dict[str, int], int]:
    """Return the block of functions, entry's key -> which of its profiles, and how many profiles it has no room for."""
    distinct: list[FunctionCosts] = []
    used: dict[str, int] = {}
    for entry in site.history.entries:
        costs = site.functions.get(entry.key)
        if costs is None:
            continue
        number = next((at for at, one in enumerate(distinct) if one is costs), None)
        if number is None:
            number = len(distinct)
            distinct.append(costs)
        used[entry.key] = number
    if not distinct:
        return Html(), {}, 0
    kept = distinct
    while len(kept) > 1 and len(kept) * len({name for one in kept for name in one}) > MOST_TIMES:
        kept = kept[1:]
    left = len(distinct) - len(kept)
    names = sorted({name for one in kept for name in one})
    pack = Pack()
    pack.texts("name", names)
    for at, column in enumerate(("own", "total")):
        pack.differences(column, _times(names, kept, at))
    places = {key: number - left for key, number in used.items() if number >= left}
    return pack.block(FUNCTIONS, {"profiles": len(kept)}), places, left


def _times(names: Sequence[str], profiles: Sequence[FunctionCosts], at: int) -> "np.ndarray[Any, np.dtype[np.int64]]":
    none = (0, 0)
    return np.array([one.get(name, none)[at] for name in names for one in profiles], dtype=np.int64)


def _links(site: SystemSite, entry: LedgerEntry) -> list[tuple[str, str]]:
    found = ((words, pages.get(entry.key)) for words, pages in (("report", site.reports), ("profile", site.profiles)))
    return [(words, f"../{page.name}") for words, page in found if page is not None and page.name]
