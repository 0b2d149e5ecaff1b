"""The catalogue of techniques and the plans, shown: a line for each technique, one in full, or the plans."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from pydantic import Field
from rich.console import Group, RenderableType
from rich.text import Text

from bootlab.document import Document
from bootlab.experiments.trial.plan import Plan
from bootlab.report.parts.figures import visible
from bootlab.report.parts.terminal_tables import keep_whole, plain_table
from bootlab.report.parts.view import View
from bootlab.techniques.model.technique import Technique
from bootlab.techniques.page.measured_figures import MeasuredFigure, figures_of

SCHEMA: Final = "bootlab.techniques/1"


class PublishedFigure(Document):
    """What somebody else measured, and where it is written."""

    figure: str
    where: str


class TechniqueRow(Document):
    """A technique, with the figures published of it and our own."""

    name: str
    layer: str
    risk: str
    adds: bool
    summary: str
    mechanism: str
    knob: str
    cost: str
    sources: list[PublishedFigure]
    measured: list[MeasuredFigure]


class PlanRow(Document):
    """A plan. `techniques`: None for all of the catalogue."""

    summary: str
    techniques: tuple[str, ...] | None


class CatalogueDocument(Document):
    """Techniques, and every plan by name."""

    schema_: Literal["bootlab.techniques/1"] = Field(default=SCHEMA, alias="schema")
    techniques: list[TechniqueRow]
    plans: dict[str, PlanRow]


def catalogue_document(
    techniques: Iterable[Technique], known: Iterable[MeasuredFigure], plans: Mapping[str, Plan]
) -> CatalogueDocument:
    """Return techniques as a document. `known`: our own figures, of these techniques and others."""
    figures = list(known)
    return CatalogueDocument(
        techniques=[
            TechniqueRow(
                name=one.name,
                layer=one.change.layer.value,
                risk=one.text.risk.value,
                adds=one.change.adds,
                summary=one.text.summary,
                mechanism=one.text.mechanism,
                knob=one.change.knob,
                cost=one.text.cost,
                sources=[PublishedFigure(figure=told.figure, where=told.where) for told in one.text.published],
                measured=[figure for figure in figures if figure.technique == one.name],
            )
            for one in techniques
        ],
        plans={plan.name: PlanRow(summary=plan.summary, techniques=plan.techniques) for plan in plans.values()},
    )


def list_view(document: CatalogueDocument) -> View:
    """Return a line for each technique: layer, risk and what it does."""
    rows = plain_table("technique", "layer", "risk", "this technique ...")
    keep_whole(rows, rows.columns[:-1])
    for one in document.techniques:
        style = "" if one.risk == "none" else "yellow"
        rows.add_row(visible(one.name), one.layer, Text(one.risk, style=style), Text(visible(one.summary)))
    return View(document, (rows,))


def plans_view(document: CatalogueDocument) -> View:
    """Return the plans, each with its techniques."""
    lines: list[RenderableType] = []
    for name, plan in document.plans.items():
        lines.append(f"{name}: {plan.summary}")
        if plan.techniques:
            lines.append(Group(Text("  " + ", ".join(plan.techniques), style="dim")))
    return View(document, tuple(lines))


def full_view(document: CatalogueDocument) -> View:
    """Return techniques in full: what each does and why, its knob, its cost, and who measured which figure."""
    return View(document, tuple(_whole(one) for one in document.techniques))


def _whole(one: TechniqueRow) -> RenderableType:
    rows = plain_table("", "")
    rows.show_header = False
    keep_whole(rows, rows.columns[:1])
    about: Sequence[tuple[str, str]] = [
        ("layer", one.layer),
        ("risk", one.risk),
        ("knob", one.knob),
        ("mechanism", one.mechanism),
        ("cost", one.cost),
        *(("published", f"{told.figure} ({told.where})") for told in one.sources),
        *(("measured", words) for words in figures_of(one.name, one.measured)),
    ]
    for name, value in about:
        rows.add_row(Text(name, style="dim"), Text(visible(value), overflow="fold"))
    return Group(Text(visible(one.name), style="bold"), Text(visible(one.summary)), rows, Text())
