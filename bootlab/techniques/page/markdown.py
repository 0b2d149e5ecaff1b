"""The catalogue as one Markdown page: docs/techniques.md. A pure function, so a test can hold the page against it."""

from collections.abc import Iterable, Sequence

from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Layer, Risk, Technique
from bootlab.techniques.page.measured_figures import MeasuredFigure, figures_of, sizes_words
from bootlab.techniques.page.table_sections import gone_section, tables_section

_HEAD = """# Techniques

What bootlab can try on a system. This page is generated from the catalogue: change the file in `bootlab/techniques/`,
not the page. Those of the kernel layer build the kernel anew, so they need a system with
[`[kernel.build]`](systems.md); a kernel that was built once is not built again.

`bootlab try SYSTEM` measures each technique alone and then stacks those that helped; `bootlab try SYSTEM NAME...` takes
only those named. The published figures are what others measured on their machines, often together with other changes:
they say that a technique is worth trying, not what it saves on yours. Whether a knob took effect is read from the boot
itself, from the kernel's log, from files the guest reads, from kernel functions that ran; never from the command line.
What a kernel was built with is read from the configuration kept with that very image, and overruled by a boot that
shows otherwise.

A technique that adds a feature, instead of sparing time, is tried only where it is named: on the command line, or in
the plan `bottom-up`, which grows a kernel from `tinyconfig`.

[Five accounts](#five-accounts) at the end set published figures beside ours.
"""

_RISKS = {
    Risk.NONE: "recommended stack",
    Risk.FUNCTION: "stack with risks: a device, a log or a feature is gone",
    Risk.SECURITY: "stack with risks: a protection is gone",
}

_FUNCTIONS_SHOWN = 8


def techniques_page(catalogue: Iterable[Technique], measured: Sequence[MeasuredFigure] = ()) -> str:
    """Return the page: a table of all techniques, each in full by layer, the published tables, and what is gone.

    `measured`: our own figures.
    """
    techniques = tuple(catalogue)
    parts = [_HEAD, _measured(techniques, measured), _table(techniques)]
    for layer in Layer:
        mine = [technique for technique in techniques if technique.change.layer is layer]
        if mine:
            parts.append(f"\n## {layer.value.capitalize()}\n")
            parts += [_section(technique, measured) for technique in mine]
    parts += [tables_section(measured), gone_section()]
    return "".join(parts)


def _measured(techniques: tuple[Technique, ...], measured: Sequence[MeasuredFigure]) -> str:
    figured = {one.technique for one in measured} & {one.name for one in techniques}
    said = f"Measured here: {len(figured)} of the {len(techniques)}; the others have no figure of ours yet."
    return f"{said} {sizes_words(measured)}".rstrip() + "\n\n"


def _table(techniques: tuple[Technique, ...]) -> str:
    rows = ["| technique | risk | this technique ... |", "|---|---|---|"]
    rows += [f"| [{one.name}](#{one.name}) | {one.text.risk.value} | {_cell(one.text.summary)} |" for one in techniques]
    return "\n".join(rows) + "\n"


def _section(one: Technique, measured: Sequence[MeasuredFigure]) -> str:
    lines = [
        f"\n### {one.name}\n",
        f"This technique {one.text.summary}.\n",
        f"- **Mechanism:** {one.text.mechanism}",
        f"- **Knob:** {one.change.knob}",
        f"- **Cost:** {one.text.cost}",
        f"- **Risk:** {one.text.risk.value} ({_RISKS[one.text.risk]})",
    ]
    if one.proof.watch:
        lines.append(f"- **Kernel functions watched:** {', '.join(f'`{symbol}`' for symbol in one.proof.watch)}")
    if one.removes is not None:
        lines.append(f"- **In a profile:** {_removed(one.removes)}")
    lines += [f"- **Published:** {source.figure} ({source.where})" for source in one.text.published]
    lines += [f"- **Measured here:** {words}" for words in figures_of(one.name, measured)]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _removed(removes: Removes) -> str:
    names = [f"`{name}`" for name in (*removes.stages, *removes.functions)]
    shown = ", ".join(names[:_FUNCTIONS_SHOWN]) + (", ..." if len(names) > _FUNCTIONS_SHOWN else "")
    kept = f", without {', '.join(f'`{name}`' for name in removes.keeps)}" if removes.keeps else ""
    instead = "; something else does the same work instead" if removes.replaced else ""
    return f"{removes.what}: {'one of ' if removes.each else ''}{shown}{kept}{instead}"
