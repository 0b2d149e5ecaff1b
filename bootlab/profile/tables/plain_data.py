"""Results as plain data: what every analysis of a profile returns can be written as JSON, field by field."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np


class Result:
    """A frozen dataclass of an analysis. Its JSON has its fields by name; those that begin with `_` are left out."""

    __slots__ = ()

    def as_json(self) -> dict[str, Any]:
        """Return the fields as plain dicts, lists, strings and numbers, in the order they are declared."""
        if not is_dataclass(self):
            raise TypeError(f"{type(self).__name__} is not a dataclass")
        return {f.name: plain(getattr(self, f.name)) for f in fields(self) if not f.name.startswith("_")}


def plain(value: Any) -> Any:
    """Return `value` made of dicts, lists, strings and numbers only."""
    if isinstance(value, Result):
        return value.as_json()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value
