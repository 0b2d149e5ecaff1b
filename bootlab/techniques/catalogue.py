"""The catalogue: every technique there is, one file each, refused when its entry is incomplete or misnamed.

A file whose name begins with a layer (`cmdline_quiet.py`) must define TECHNIQUE; the other files of this folder are
its machinery and must not. Adding a technique is adding a file: nothing lists them but the folder itself.
"""

import difflib
import importlib
import pkgutil
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from bootlab.errors import BootlabError, InputError
from bootlab.techniques.technique import STAGES, Layer, Removes, Technique

ATTRIBUTE = "TECHNIQUE"
LEAST_WORDS = {"summary": 4, "mechanism": 12, "knob": 1, "cost": 4}
"""A text with fewer words than this documents nothing."""

_PACKAGE = "bootlab.techniques"
_VERB = re.compile(r"[a-z]+s$")
# As the source spells it: `.isra.0` and its like are the compiler's.
_FUNCTION = re.compile(rf"([A-Za-z_]\w*/)?[A-Za-z_]\w*( ({'|'.join(map(re.escape, STAGES))}))?")


@cache
def load_catalogue() -> tuple[Technique, ...]:
    """Return every technique, by layer and then by name.

    Raises BootlabError that names file and field of every entry that is incomplete or misnamed.
    """
    folder = Path(__file__).parent
    found: list[Technique] = []
    complaints: list[str] = []
    for name in sorted(module.name for module in pkgutil.iter_modules([str(folder)])):
        entry = getattr(importlib.import_module(f"{_PACKAGE}.{name}"), ATTRIBUTE, None)
        complaints += complaints_about(name, entry)
        if isinstance(entry, Technique):
            found.append(entry)
    if complaints:
        raise BootlabError("the catalogue of techniques is incomplete:\n" + "\n".join(complaints))
    order = list(Layer)
    return tuple(sorted(found, key=lambda technique: (order.index(technique.layer), technique.name)))


def find_techniques(catalogue: Iterable[Technique], names: Sequence[str] | None) -> tuple[Technique, ...]:
    """Return the techniques of these names in the order given, or for None all that can make a boot shorter.

    Raises InputError that lists every name that is not in the catalogue.
    """
    known = {technique.name: technique for technique in catalogue}
    if names is None:
        return tuple(technique for technique in known.values() if not technique.adds)
    unknown = [name for name in names if name not in known]
    if unknown:
        close = [match for name in unknown for match in difflib.get_close_matches(name, known, n=2, cutoff=0.5)]
        hint = f"did you mean {' or '.join(close)}? " if close else ""
        raise InputError(
            f"no such technique: {', '.join(unknown)}", hint=f"{hint}`bootlab techniques` lists what there is"
        )
    return tuple(known[name] for name in dict.fromkeys(names))


def complaints_about(module: str, entry: object) -> list[str]:
    """Return what is wrong with the entry of one file, one line each, naming file and field; empty when all is well."""
    where = f"{module}.py"
    layer, separator, _ = module.partition("_")
    if not separator or layer not in {one.value for one in Layer}:
        if entry is None:
            return []
        return [f"{where}: name: a technique's file is called <layer>_<what>.py, with a layer of {_layers()}"]
    if not isinstance(entry, Technique):
        return [f"{where}: {ATTRIBUTE}: expected a Technique, got {type(entry).__name__}"]
    complaints = []
    if entry.name != module:
        complaints.append(f"{where}: name: {entry.name!r} is not the name of its file")
    if entry.layer.value != layer:
        complaints.append(f"{where}: layer: {entry.layer.value!r}, but the file's name begins with {layer!r}")
    for field, least in LEAST_WORDS.items():
        words = len(getattr(entry, field).split())
        if words < least:
            complaints.append(f"{where}: {field}: {words} words, expected at least {least}")
    complaints += [f"{where}: {complaint}" for complaint in _form(entry)]
    return complaints


def _form(entry: Technique) -> list[str]:
    complaints = []
    first = entry.summary.split(" ", 1)[0]
    if not _VERB.fullmatch(first) or entry.summary.endswith("."):
        complaints.append(
            'summary: does not complete "This technique ...": expected a verb in lower case first, and no full stop'
        )
    if not entry.sources:
        complaints.append(
            "sources: empty, expected who measured what (or the figure `none published` and what was read)"
        )
    for number, source in enumerate(entry.sources):
        if not source.figure.strip():
            complaints.append(f"sources[{number}].figure: empty, expected the figure as published, or `none published`")
        if not source.where.strip():
            complaints.append(f"sources[{number}].where: empty, expected where the figure can be read")
    return complaints + (_removes(entry.removes) if entry.removes is not None else [])


def _removes(removes: Removes) -> list[str]:
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
