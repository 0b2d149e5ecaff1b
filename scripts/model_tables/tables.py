"""Tables of keys, made of the models themselves: every key of a system file, and of every JSON document.

docs/systems.md and docs/formats.md have them between `<!-- keys: NAME -->` and `<!-- end: NAME -->`;
tests/test_model_tables.py refuses others, and `make golden` writes them anew. What a key is for in a sentence is the
text below its field in the model, where there is one.
"""

import ast
import inspect
import pkgutil
import re
import textwrap
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

import bootlab
from bootlab.document import Document
from bootlab.system import System

PLAIN: Final[dict[object, str]] = {
    str: "text", int: "integer", float: "number", bool: "true or false", Path: "path", object: "any", Any: "any",
    datetime: "date and time", type(None): "null",
}  # fmt: skip


@dataclass(frozen=True)
class Key:
    """One key: its path from the top, what may stand there, its default, and what it is for."""

    path: str
    kind: str
    default: str
    about: str


def keys_of(model: type[BaseModel], before: str = "", above: tuple[type, ...] = ()) -> Iterator[Key]:
    """Yield the keys of a model in its order, those of its parts behind each; a part within itself once."""
    told = _told(model)
    for name, field in model.model_fields.items():
        path = f"{before}{field.serialization_alias or field.alias or name}"
        parts = list(_models(field.annotation))
        yield Key(path, _kind(field.annotation), _default(field), told.get(name, ""))
        for part, form in parts:
            if part not in (*above, model):
                yield from keys_of(part, f"{path}{form}.", (*above, model))


def document_table() -> str:
    """Return a table of keys for each JSON document that has a name, by name."""
    blocks = []
    for name, model in sorted(documents().items()):
        blocks += [f"### {name}", "", *_table(keys_of(model), ("key", "value", "meaning")), ""]
    return "\n".join(blocks).rstrip()


def system_table() -> str:
    """Return the table of all keys of a system file."""
    return "\n".join(_table(keys_of(System), ("key", "value", "default", "meaning")))


def with_table(text: str, name: str, table: str) -> str:
    """Return a document with a table between the comments of its name. Raises ValueError where it has none."""
    begin, end = f"<!-- keys: {name} -->\n", f"\n<!-- end: {name} -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"expected one {begin.strip()} and one {end.strip()}")
    return f"{text.partition(begin)[0]}{begin}\n{table}\n{end}{text.partition(end)[2]}"


@cache
def documents() -> Mapping[str, type[BaseModel]]:
    """Return every document that says its own name, by that name."""
    for module in pkgutil.walk_packages(bootlab.__path__, "bootlab."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    found = {}
    for model in _below(Document):
        field = model.model_fields.get("schema_")
        if field is not None and isinstance(field.default, str) and model.__module__.startswith("bootlab."):
            found[field.default] = model
    return found


def _below(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for one in model.__subclasses__():
        yield one
        yield from _below(one)


def _table(keys: Iterator[Key], columns: Sequence[str]) -> list[str]:
    rows = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    for key in keys:
        cells = {"key": f"`{key.path}`", "value": key.kind, "default": key.default, "meaning": key.about}
        rows.append("|" + "".join(f" {cells[one]} |" if cells[one] else " |" for one in columns))
    return rows


@cache
def _told(model: type[BaseModel]) -> Mapping[str, str]:
    # Field -> the first sentence of the text below it; those of the classes that it is made from among them.
    told: dict[str, str] = {}
    for one in reversed(model.__mro__):
        if not one.__module__.startswith("bootlab."):
            continue
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(one))).body
        assert isinstance(tree, ast.ClassDef)
        for field, text in zip(tree.body, tree.body[1:], strict=False):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(text, ast.Expr)
                and isinstance(text.value, ast.Constant)
            ):
                told[field.target.id] = " ".join(str(text.value.value).split()).replace("|", "\\|")
    return told


def _models(annotation: Any) -> Iterator[tuple[type[BaseModel], str]]:
    # The models in an annotation, each with what its keys have before them: `[]` in a list, `.NAME` in a table.
    origin, args = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation, ""
    elif origin is Annotated:
        yield from _models(args[0])
    elif origin in (Union, types.UnionType):
        for arg in args:
            yield from _models(arg)
    elif origin in (list, tuple, frozenset, set) or _is_mapping(origin):
        form = ".NAME" if _is_mapping(origin) else "[]"
        for arg in args:
            yield from ((model, form + below) for model, below in _models(arg))


def _is_mapping(origin: Any) -> bool:
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _kind(annotation: Any) -> str:
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _kind(args[0])
    if origin is Literal:
        return ", ".join(f"`{one}`" for one in args)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_kind(arg) for arg in args))
    if _is_mapping(origin):
        return f"table: {_kind(args[0])} -> {_kind(args[1])}"
    if origin in (list, tuple, frozenset, set):
        inner = [arg for arg in args if arg is not Ellipsis]
        words = " and ".join(dict.fromkeys(_kind(arg) for arg in inner))
        return f"list of {words}" if len(inner) == 1 or Ellipsis in args else f"{len(inner)} of {words}"
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return ", ".join(f"`{one.value}`" for one in annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "keys below"
    return PLAIN.get(annotation, "value")


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.default
    if value is PydanticUndefined or value is None or isinstance(value, BaseModel):
        return ""
    if isinstance(value, tuple | list | dict | frozenset):
        return ""
    text = value.value if isinstance(value, Enum) else str(value).lower() if isinstance(value, bool) else str(value)
    return f"`{text}`" if re.search(r"\S", str(text)) else ""
