"""`bootlab techniques`: the catalogue."""

from typing import Annotated, Any

import typer

from bootlab.cli.arguments import Json, complete_technique
from bootlab.cli.terminal import out, print_json
from bootlab.experiments.plan import PLANS
from bootlab.report import text
from bootlab.techniques.catalogue import find_techniques, load_catalogue
from bootlab.techniques.technique import Technique


def techniques(
    name: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TECHNIQUE]...",
            help="Show these in full. [default: a line for each]",
            autocompletion=complete_technique,
        ),
    ] = None,
    plans: Annotated[bool, typer.Option("--plans", help="List the named plans instead.")] = False,
    json: Json = False,
) -> int:
    """List the techniques bootlab can try, or show some in full: mechanism, knob, cost, published figures."""
    chosen = find_techniques(load_catalogue(), name or None)
    if json:
        document: dict[str, Any] = {
            "schema": "bootlab.techniques/1",
            "techniques": [_document(technique) for technique in chosen],
            "plans": {plan.name: {"summary": plan.summary, "techniques": plan.techniques} for plan in PLANS.values()},
        }
        print_json(document)
    elif plans:
        for plan in PLANS.values():
            out.print(f"{plan.name}: {plan.summary}", soft_wrap=True)
            if plan.techniques:
                out.print("  " + ", ".join(plan.techniques), style="dim")
    elif name:
        for technique in chosen:
            out.print(text.technique(technique))
    else:
        out.print(text.catalogue(chosen))
    return 0


def _document(technique: Technique) -> dict[str, Any]:
    return {
        "name": technique.name,
        "layer": technique.layer.value,
        "risk": technique.risk.value,
        "summary": technique.summary,
        "mechanism": technique.mechanism,
        "knob": technique.knob,
        "cost": technique.cost,
        "sources": [{"figure": source.figure, "where": source.where} for source in technique.sources],
    }
