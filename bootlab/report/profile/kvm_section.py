"""The page's section on what a boot would make KVM do: prices, who exits, flame graphs by exits, pages and price."""

from bootlab.findings.analysis import Analysis
from bootlab.findings.kvm_price import KvmPrice
from bootlab.price.classes import FAULT_2M, FAULT_4K
from bootlab.report.exports.kvm import kvm_trees
from bootlab.report.exports.svg import svg_markup
from bootlab.report.parts.figures import clock_of, count, ms, price_words
from bootlab.report.parts.html_tables import Cell, table
from bootlab.report.parts.markup import Html, join, tag
from bootlab.report.parts.sections import fold, scroll
from bootlab.report.profile.price_text import notes, words_of
from bootlab.report.profile.table_columns import code, columns_of, milliseconds, number

_FUNCTIONS = 40


def kvm(analysis: Analysis) -> Html:
    """Return the section's content; nothing for a boot whose exits were not counted."""
    price = analysis.price
    if price is None:
        return Html()
    graphs = [
        fold(
            f"Flame graph by {one.what}",
            scroll(
                f"flame graph by {one.what}",
                svg_markup(
                    one.tree, "elapsed", title=f"{analysis.record.system}: {one.what}",
                    foot=clock_of([analysis.record]), unit=one.unit,
                ),
            ),
        )
        for one in kvm_trees(analysis)
    ]  # fmt: skip
    told = [tag("p", words) for words in notes(price)]
    if price.account.not_counted:
        told.append(tag("p", f"{count(price.account.not_counted)} not counted for want of memory", class_="caution"))
    return join([_prices(price), _classes(price), _phases(price), _functions(price), *told, *graphs])


def _prices(price: KvmPrice) -> Html:
    columns = columns_of(
        "model", "instructions, ms>", "idle, ms>", "exits, ms>", "faults, ms>", "price, ms>", "with 2 MiB pages, ms>"
    )
    rows = [
        [
            Cell(f"{one.model.name}{', charged' if one.charged else ''}"), milliseconds(one.small.instructions_ns),
            milliseconds(one.small.idle_ns), milliseconds(one.small.exits_ns), milliseconds(one.small.faults_ns),
            milliseconds(one.small.total_ns), milliseconds(one.huge.total_ns),
        ]
        for one in price.prices
    ]  # fmt: skip
    return table("Price under each host model: never a time of the clock above", columns, rows)


def _classes(price: KvmPrice) -> Html:
    account, models = price.account, [one.model for one in price.prices]
    bound = account.time_bound_by_class
    columns = columns_of("class`", "exits>", "time-bound>", *(f"{one.name}, ms>" for one in models), "what")
    rows = [
        [
            code(name), number(exits), Cell(count(bound.get(name)), bound.get(name)),
            *(milliseconds(exits * one.exit[name].ns) for one in models), Cell(account.rules.classes[name]),
        ]
        for name, exits in sorted(account.by_class.items(), key=lambda item: -item[1])
    ]  # fmt: skip
    chunks, small = int(account.chunks.sum()), int(account.small.sum())
    rows.append([
        code(FAULT_4K), number(account.n_pages), Cell(""),
        *(milliseconds(account.n_pages * one.fault.small.ns) for one in models), Cell("pages touched first"),
    ])  # fmt: skip
    rows.append([
        code(FAULT_2M), number(account.n_huge_faults), Cell(""),
        *(milliseconds(chunks * one.fault.huge.ns + small * one.fault.small.ns) for one in models),
        Cell(f"instead, with huge pages: {count(chunks)} chunks and {count(small)} pages"),
    ])  # fmt: skip
    return table("Exits by class, and first touches of memory", columns, rows, sortable=True)


def _phases(price: KvmPrice) -> Html:
    names = [one.model.name for one in price.prices]
    columns = columns_of("phase", "instructions>", "idle, ms>", "exits>", "pages>", *(f"{name}, ms>" for name in names))
    rows = [
        [
            Cell(one.name), number(one.instructions), milliseconds(one.idle_ns), number(sum(one.exits.values())),
            number(one.pages), *(milliseconds(one.costs[name].total_ns) for name in names),
        ]
        for one in price.phases
    ]  # fmt: skip
    return table("Price by phase, pages of 4 KiB", columns, rows)


def _functions(price: KvmPrice) -> Html:
    names = [one.model.name for one in price.prices]
    columns = columns_of("function`", "exits>", "pages>", *(f"{price_words(name)}, ms>" for name in names), "by class")
    rows = [
        [
            code(one.name), number(sum(one.exits.values())), number(one.pages),
            *(Cell(ms(one.exit_ns[name]), one.exit_ns[name]) for name in names), Cell(words_of(one.exits)),
        ]
        for one in price.functions[:_FUNCTIONS]
    ]  # fmt: skip
    return table("Who exits, and who touches memory first", columns, rows, sortable=True)
