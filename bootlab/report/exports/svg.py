"""A flame graph as one static SVG: for a document, a ticket, a slide. It needs no script; hovering shows the figures.

Frames narrower than a third of a pixel are left out, as they could not be seen; what is in them still widens the frames
below. Colours tell kinds apart: user code and modules, kernel, waits.
"""

import html
from pathlib import Path
from typing import Final

import numpy as np

from bootlab.profile.tree.call_tree import IDLE, LEAVES, NO_WORK, PRUNED, RUNNABLE, WAIT, CallTree, Weight
from bootlab.report.parts.figures import visible
from bootlab.report.parts.markup import Html

_WIDTH: Final = 1200
_ROW: Final = 16
_MARGIN: Final = 10
_HEAD: Final = 44
_NARROWEST: Final = 0.33
_LETTER: Final = 6.6
_COLOURS: Final = {WAIT: "#9ec5e8", NO_WORK: "#dbe7f2", RUNNABLE: "#c9b8e6", IDLE: "#d8d8d8", PRUNED: "#cccccc"}


def write_svg(tree: CallTree, path: Path, weight: Weight, *, title: str, foot: str, unit: str | None = None) -> None:
    """Write the flame graph. `foot`: the clock sentence, without which no figure stands. Raises OSError.

    `unit`: of the weight, where that is neither instructions nor ns.
    """
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(_lines(tree, weight, (title, foot), unit))


def svg_markup(tree: CallTree, weight: Weight, *, title: str, foot: str, unit: str | None = None) -> Html:
    """Return the same flame graph as markup, for a page."""
    # Every name in it was escaped on its way in.
    return Html("".join(_lines(tree, weight, (title, foot), unit)))


def _lines(tree: CallTree, weight: Weight, words: tuple[str, str], unit: str | None) -> list[str]:
    title, foot = words
    whole = int(tree.total(weight)[0])
    seen = tree.pruned(max(int(whole * _NARROWEST / (_WIDTH - 2 * _MARGIN)), 1), weight)
    places = _places(seen, weight)
    levels = int(seen.shape.depth[np.fromiter(places, dtype=np.int64)].max(initial=0)) if places else 0
    height = _HEAD + (levels + 1) * _ROW + 2 * _ROW
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}"'
        ' font-family="monospace" font-size="11">\n',
        f"<title>{_text(title)}</title>\n",
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>\n',
        f'<text x="{_WIDTH // 2}" y="24" font-size="15" text-anchor="middle">{_text(title)}</text>\n',
    ]
    per_unit = (_WIDTH - 2 * _MARGIN) / max(whole, 1)
    unit = unit or ("instructions" if weight == "instructions" else "ns")
    for node, (start, length) in places.items():
        name = seen.name(node) if node else "all"
        y = height - 2 * _ROW - (int(seen.shape.depth[node]) + 1) * _ROW
        share = 100 * length / max(whole, 1)
        lines.append(
            _frame(name, _MARGIN + start * per_unit, y, length * per_unit, f"{length:,} {unit}, {share:.2f} %")
        )
    lines.append(f'<text x="{_MARGIN}" y="{height - 10}" fill="#555555">{_text(foot)}</text>\n</svg>\n')
    return lines


def _places(tree: CallTree, weight: Weight) -> dict[int, tuple[int, int]]:
    # Node -> where it begins and how long it is, siblings by name; without what was left out.
    total = tree.total(weight).tolist()
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(tree.parent.tolist()):
        if node and total[node] and tree.name(node) != PRUNED:
            children.setdefault(parent, []).append(node)
    places, todo = {0: (0, total[0])}, [0]
    while todo:
        node = todo.pop()
        at = places[node][0]
        for child in sorted(children.get(node, ()), key=tree.name):
            places[child] = (at, total[child])
            at += total[child]
            todo.append(child)
    return places


def _frame(name: str, x: float, y: float, width: float, figures: str) -> str:
    shown, room = visible(name), int((width - 4) / _LETTER)
    label = ""
    if room >= 3:
        cut = shown if len(shown) <= room else shown[: room - 2] + ".."
        label = f'<text x="{x + 2:.1f}" y="{y + 11.5:.1f}">{html.escape(cut)}</text>'
    return (
        f"<g><title>{_text(name)}: {figures}</title>"
        f'<rect x="{x:.2f}" y="{y}" width="{max(width - 0.3, 0.2):.2f}" height="{_ROW - 1}" fill="{_colour(name)}"/>'
        f"{label}</g>\n"
    )


def _colour(name: str) -> str:
    if name in LEAVES:
        return _COLOURS[name]
    # A name has the same shade in every picture.
    shade = sum(ord(letter) * place for place, letter in enumerate(name, start=1)) % 40
    if name.endswith("]"):
        return f"hsl({95 + shade}, 55%, 68%)"
    return f"hsl({10 + shade}, 85%, 66%)"


def _text(text: str) -> str:
    return html.escape(visible(text), quote=True)
