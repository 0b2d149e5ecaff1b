"""The price of a boot under KVM for a terminal: beside instructions and idle time, and never mixed with them."""

from collections.abc import Mapping

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from bootlab.findings.kvm_price import KvmPrice
from bootlab.report.parts.figures import count, ms, visible
from bootlab.report.parts.terminal_tables import keep_whole, plain_table

_FUNCTIONS = 12


def price_lines(price: KvmPrice, goal: str) -> list[RenderableType]:
    """Return title, tables and what a reader must know of them; `goal` is what they go up to, in words."""
    account = price.account
    head = f"KVM: {count(account.n_exits)} exits, {count(account.n_pages)} pages up to {goal}"
    lines: list[RenderableType] = [Text(), Text(head, style="bold"), _classes(price)]
    lines += [Text(), Text("price under a host model", style="bold"), _prices(price)]
    lines += [Text(), Text("price by phase, pages of 4K", style="bold"), _phases(price)]
    lines += [Text(), Text("who exits, and who touches memory first", style="bold"), _functions(price)]
    lines += [Text(words, style="dim") for words in notes(price)]
    if account.not_counted:
        lines.append(Text(f"{count(account.not_counted)} not counted for want of memory", style="red"))
    return lines


def notes(price: KvmPrice) -> list[str]:
    """Return what a reader must know of the figures, in sentences."""
    rules = price.account.rules
    told = [f"exits by the rules of {rules.words}: {'proved' if rules.proved else 'unproved'}"]
    bound = price.account.time_bound_by_class
    if bound and not any(one.charged for one in price.prices):
        told.append(
            f"time-bound, {words_of(bound)}: polls and ticks, which follow from how long things take; here an exit "
            'takes no time, so polls are far too many: clock.host_model = "MODEL" charges them to the clock'
        )
    elif bound:
        told.append(f"time-bound, {words_of(bound)}: polls and ticks, which follow from how long things take")
    return told


def words_of(exits: Mapping[str, int]) -> str:
    """Return exits by class in one line, most first."""
    most = sorted(exits.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {count(number)}" for name, number in most)


def _classes(price: KvmPrice) -> Table:
    account = price.account
    bound = account.time_bound_by_class
    models = [one.model for one in price.prices]
    rows = plain_table("class", "exits>", "time-bound>", *[f"{visible(one.name)} ms>" for one in models], "what")
    keep_whole(rows, rows.columns[:-1])
    for name, number in sorted(account.by_class.items(), key=lambda item: -item[1]):
        figures = [ms(number * model.exit[name].ns) for model in models]
        rows.add_row(name, count(number), count(bound.get(name)), *figures, account.rules.classes[name])
    figures = [ms(account.n_pages * model.fault.small.ns) for model in models]
    rows.add_row("fault_4K", count(account.n_pages), "", *figures, "pages touched first")
    chunks, small = int(account.chunks.sum()), int(account.small.sum())
    figures = [ms(chunks * model.fault.huge.ns + small * model.fault.small.ns) for model in models]
    words = f"instead, with huge pages: {count(chunks)} chunks and {count(small)} pages"
    rows.add_row("fault_2M", count(account.n_huge_faults), "", *figures, words)
    return rows


def _prices(price: KvmPrice) -> Table:
    rows = plain_table(
        "model", "instructions ms>", "idle ms>", "exits ms>", "faults ms>", "in all ms>", "with 2M pages ms>"
    )
    for one in price.prices:
        cost = one.small
        name = f"{visible(one.model.name)}{', charged' if one.charged else ''}"
        figures = (cost.instructions_ns, cost.idle_ns, cost.exits_ns, cost.faults_ns, cost.total_ns, one.huge.total_ns)
        rows.add_row(Text(name), *map(ms, figures))
    return rows


def _phases(price: KvmPrice) -> Table:
    names = [one.model.name for one in price.prices]
    rows = plain_table(
        "phase", "M instructions>", "idle ms>", "exits>", "pages>", *[f"{visible(n)} ms>" for n in names]
    )
    keep_whole(rows, rows.columns[1:])
    for one in price.phases:
        rows.add_row(
            Text(visible(one.name), overflow="fold"), f"{one.instructions / 1e6:.1f}", ms(one.idle_ns),
            count(sum(one.exits.values())), count(one.pages), *[ms(one.costs[name].total_ns) for name in names],
        )  # fmt: skip
    return rows


def _functions(price: KvmPrice) -> Table:
    names = [one.model.name for one in price.prices]
    rows = plain_table("function", "exits>", "pages>", *[f"{visible(name)} ms>" for name in names], "exits by class")
    keep_whole(rows, rows.columns[1:-1])
    for one in price.functions[:_FUNCTIONS]:
        rows.add_row(
            Text(visible(one.name), overflow="fold"), count(sum(one.exits.values())), count(one.pages),
            *[ms(one.exit_ns[name]) for name in names], Text(words_of(one.exits), overflow="fold"),
        )  # fmt: skip
    return rows
