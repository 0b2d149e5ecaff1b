"""What is wrong with the files of the catalogue: techniques that are incomplete, misnamed, misplaced or there twice."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import PurePosixPath

from bootlab.techniques.model.published import Published
from bootlab.techniques.model.removed_work import STAGES, Removes
from bootlab.techniques.model.technique import Layer, Technique

UNWRITTEN = "FILL IN"
"""What stands in a new file where words are to be written (scripts/new)."""
LEAST_WORDS = {"summary": 4, "mechanism": 12, "knob": 1, "cost": 4}
"""A text with fewer words than this documents nothing."""

_VERB = re.compile(r"[a-z]+s$")
# As the source spells it: `.isra.0` and its like are the compiler's.
_FUNCTION = re.compile(rf"([A-Za-z_]\w*/)?[A-Za-z_]\w*( ({'|'.join(map(re.escape, STAGES))}))?")


def complaints_about(tables: Mapping[str, object]) -> list[str]:
    """Return what is wrong, one line each, naming file and field; empty when all is well.

    `tables`: file below bootlab/techniques -> its TECHNIQUES, None when it defines none.
    """
    complaints = [complaint for file, table in tables.items() for complaint in _of_file(file, table)]
    places = [(one.name, file) for file, table in tables.items() for one in _rows(table)]
    often = {name: count for name, count in Counter(name for name, _ in places).items() if count > 1}
    for name in often:
        files = sorted({file for other, file in places if other == name})
        complaints.append(f"{', '.join(files)}: {name}: name: there are {often[name]} techniques of this name")
    return complaints


def is_of_a_layer(file: str) -> bool:
    """Return whether a file below the techniques lies in a layer's folder, where each has techniques."""
    path = PurePosixPath(file)
    return len(path.parts) > 1 and path.parts[0] in [*Layer] and path.name != "__init__.py"


def _rows(table: object) -> list[Technique]:
    return [one for one in table if isinstance(one, Technique)] if isinstance(table, tuple) else []


def _of_file(file: str, table: object) -> list[str]:
    if not is_of_a_layer(file):
        if table is None:
            return []
        return [f"{file}: TECHNIQUES: techniques stand in a file of their layer's folder, one of {_layers()}"]
    if not isinstance(table, tuple) or not table:
        found = "an empty one" if table == () else type(table).__name__
        return [f"{file}: TECHNIQUES: expected a tuple of Technique, got {found}"]
    layer = Layer(PurePosixPath(file).parts[0])
    complaints = [
        f"{file}: TECHNIQUES[{number}]: expected a Technique, got {type(one).__name__}"
        for number, one in enumerate(table)
        if not isinstance(one, Technique)
    ]
    return complaints + [
        f"{file}: {one.name}: {complaint}" for one in _rows(table) for complaint in _of_technique(one, layer)
    ]


def _of_technique(one: Technique, layer: Layer) -> list[str]:
    complaints = []
    prefix, _, what = one.name.partition("_")
    if prefix != layer.value or not what:
        complaints.append(f"name: {one.name!r} is not {layer.value}_<what>, as its folder has it")
    if one.change.layer is not layer:
        complaints.append(f"layer: {one.change.layer.value!r}, but it stands in the folder {layer.value!r}")
    texts = {
        "summary": one.text.summary,
        "mechanism": one.text.mechanism,
        "knob": one.change.knob,
        "cost": one.text.cost,
    }
    for field, least in LEAST_WORDS.items():
        if UNWRITTEN in texts[field]:
            complaints.append(f"{field}: words to fill in")
            continue
        words = len(texts[field].split())
        if words < least:
            complaints.append(f"{field}: {words} words, expected at least {least}")
    complaints += _of_summary(one.text.summary) + _of_published(one.text.published)
    return complaints + (_of_removes(one.removes) if one.removes is not None else [])


def _of_summary(summary: str) -> list[str]:
    if UNWRITTEN in summary or (_VERB.fullmatch(summary.split(" ", 1)[0]) and not summary.endswith(".")):
        return []
    return ['summary: does not complete "This technique ...": expected a verb in lower case first, and no full stop']


def _of_published(published: tuple[Published, ...]) -> list[str]:
    complaints = []
    if not published:
        complaints.append(
            "published: empty, expected who measured what (or the figure `none published` and what was read)"
        )
    for number, one in enumerate(published):
        if UNWRITTEN in one.figure + one.where:
            complaints.append(f"published[{number}]: words to fill in")
        if not one.figure.strip():
            complaints.append(
                f"published[{number}].figure: empty, expected the figure as published, or `none published`"
            )
        if not one.where.strip():
            complaints.append(f"published[{number}].where: empty, expected where the figure can be read")
    return complaints


def _of_removes(removes: Removes) -> list[str]:
    complaints = []
    if not removes.what.strip() or removes.what.endswith("."):
        complaints.append("removes.what: expected words for what is spared, without a full stop")
    if not removes.functions and not removes.stages:
        complaints.append("removes: no function and no stage; leave it out where none stands for what is spared")
    for name in (*removes.functions, *removes.keeps):
        if not _FUNCTION.fullmatch(name):
            complaints.append(f"removes: {name!r}: expected a function, or caller/function, without compiler's suffix")
    for name in removes.shortens:
        if name not in STAGES and not _FUNCTION.fullmatch(name):
            complaints.append(f"removes.shortens: {name!r}: expected a function or a stage")
    complaints += [
        f"removes.stages: {name!r}: there are {', '.join(STAGES)}" for name in removes.stages if name not in STAGES
    ]
    return complaints


def _layers() -> str:
    return ", ".join(layer.value for layer in Layer)
