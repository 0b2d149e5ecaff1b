"""The catalogue: every technique there is, collected from the folders of the layers, refused when one is incomplete.

Each file in a layer's folder defines TECHNIQUES, a tuple of those of one subject. Adding a technique is adding a row,
or a file: nothing lists them but the folders themselves. Techniques of strangers stand beside them (`outside`).
"""

import difflib
import importlib
import pkgutil
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from bootlab.errors import BootlabError, InputError
from bootlab.techniques.model.entry_checks import complaints_about
from bootlab.techniques.model.from_extensions import load_outside
from bootlab.techniques.model.technique import Layer, Technique

TABLE = "TECHNIQUES"

_PACKAGE = "bootlab.techniques"
_FOLDER = Path(__file__).resolve().parents[1]


@cache
def load_catalogue(folders: tuple[Path, ...] = ()) -> tuple[Technique, ...]:
    """Return every technique, by layer and then by name; those of extensions among them, in `folders` and installed.

    What is broken in an extension is noted and left out (extensions/broken.py). Raises BootlabError that names file
    and field of everything of bootlab's own that is incomplete, misnamed, misplaced or there twice.
    """
    own = _load_own()
    outside = load_outside(folders, frozenset(one.name for one in own))
    order = list(Layer)
    return tuple(
        sorted(
            (*own, *(one.technique for one in outside)),
            key=lambda one: (order.index(one.change.layer), one.name),
        )
    )


def outside_techniques(folders: tuple[Path, ...]) -> dict[str, str]:
    """Return the techniques that live outside of the package, each with the sha256 of its file."""
    outside = load_outside(folders, frozenset(one.name for one in _load_own()))
    return {one.technique.name: one.sha256 for one in outside}


def _load_own() -> tuple[Technique, ...]:
    tables = _tables()
    complaints = complaints_about(tables)
    if complaints:
        raise BootlabError("the catalogue of techniques is incomplete:\n" + "\n".join(complaints))
    return tuple(one for table in tables.values() if isinstance(table, tuple) for one in table)


def require_techniques(catalogue: Iterable[Technique], names: Sequence[str] | None) -> tuple[Technique, ...]:
    """Return the techniques of these names in the order given, or for None all that can make a boot shorter.

    Raises InputError that lists every name that is not in the catalogue.
    """
    known = {technique.name: technique for technique in catalogue}
    if names is None:
        return tuple(technique for technique in known.values() if not technique.change.adds)
    unknown = [name for name in names if name not in known]
    if unknown:
        close = [match for name in unknown for match in difflib.get_close_matches(name, known, n=2, cutoff=0.5)]
        hint = f"did you mean {' or '.join(close)}? " if close else ""
        raise InputError(
            f"no such technique: {', '.join(unknown)}", hint=f"{hint}`bootlab techniques` lists what there is"
        )
    return tuple(known[name] for name in dict.fromkeys(names))


def _tables() -> dict[str, object]:
    # File below this package -> what it calls TECHNIQUES, None when nothing.
    tables = {}
    for module in pkgutil.walk_packages([str(_FOLDER)], f"{_PACKAGE}."):
        file = module.name.removeprefix(f"{_PACKAGE}.").replace(".", "/") + ("/__init__.py" if module.ispkg else ".py")
        tables[file] = getattr(importlib.import_module(module.name), TABLE, None)
    return tables
