"""System -> TOML: the file that says the same, to be read by `system.file` again."""

import os
import re
from enum import Enum
from pathlib import Path
from typing import Any

from bootlab.system.kernel import Kernel
from bootlab.system.value import System


def system_text(system: System) -> str:
    """Return a system as the TOML file that says the same wherever it lies, without what is a default anyway."""
    document: dict[str, Any] = _plain(system.model_dump(exclude_defaults=True))
    # Names of what bootlab brings, or paths: only the latter have their ending, or a folder.
    for part, key in (("clock", "host_model"), ("machine", "firmware")):
        value = document.get(part, {}).get(key)
        if value is not None and (value.endswith(".toml") or os.sep in value or os.path.isfile(value)):
            document[part][key] = str(Path(value).absolute())
    if system.image is not None and system.kernel == Kernel(installed=True):
        # Which an image has without saying so.
        document.pop("kernel", None)
    plain = {key: value for key, value in document.items() if not isinstance(value, dict)}
    lines = [f"{key} = {_toml(value)}" for key, value in plain.items()]
    tables = {key: value for key, value in document.items() if isinstance(value, dict)}
    return "\n".join([*lines, *_tables(tables, ())]) + "\n"


def kernel_text(kernel: Kernel) -> str:
    """Return the tables of a kernel in a system file."""
    return "\n".join(_tables({"kernel": _plain(kernel.model_dump(exclude_defaults=True))}, ())) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Path):
        # A path in a system file is relative to the file, and this one may be put anywhere.
        return str(value.absolute())
    return value.value if isinstance(value, Enum) else value


def _tables(tables: dict[str, Any], above: tuple[str, ...]) -> list[str]:
    lines: list[str] = []
    for name, table in tables.items():
        path = (*above, name)
        plain = {key: value for key, value in table.items() if not isinstance(value, dict)}
        if plain or not table:
            lines += ["", f"[{'.'.join(map(_toml_key, path))}]"]
            lines += [f"{_toml_key(key)} = {_toml(value)}" for key, value in plain.items()]
        lines += _tables({key: value for key, value in table.items() if isinstance(value, dict)}, path)
    return lines


def _toml_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml(key)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + "".join(one if one >= " " and one != "\x7f" else f"\\u{ord(one):04x}" for one in escaped) + '"'
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_toml_key(key)} = {_toml(one)}' for key, one in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return str(value)
