"""The configuration of a kernel or bootloader as text: options and their values, fragments, and who asked for what.

An option is named without its CONFIG_; its value is `y`, `m`, a number, or text without its quotes. One that is off has
the value `n` where it is asked for, and is absent where a configuration is read.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bootlab.errors import InputError
from bootlab.system import SourceBuild

INITRAMFS_FILE = "bootlab-initramfs.cpio"
"""What the embedded initramfs is called in every folder of objects, so that a configuration names no place."""

_SET = re.compile(r"CONFIG_(\w+)=(.*)")
_UNSET = re.compile(r"# CONFIG_(\w+) is not set")
_OURS = {"LOCALVERSION_AUTO": "n"}
"""Asked for unless a user says otherwise: the version must not depend on a git tree's state."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One option as somebody wants it."""

    option: str
    value: str
    by: str
    """`FILE:LINE` of a fragment, or the key of a system file."""


def read_config(path: Path) -> dict[str, str]:
    """Return the options of a .config that are not off. Raises InputError when the file cannot be read."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    return parse_config(text)


def parse_config(text: str) -> dict[str, str]:
    """Return the options of a .config's text that are not off."""
    found = (_SET.fullmatch(line) for line in text.splitlines())
    return {one[1]: plain_value(one[2]) for one in found if one is not None and one[2] != "n"}


def named_options(text: str, where: str) -> list[Asked]:
    """Return what a whole configuration says, in its order, what is not set included; `where` names it in a place."""
    asked = []
    for number, line in enumerate(text.splitlines(), start=1):
        if found := _SET.fullmatch(line.strip()):
            asked.append(Asked(found[1], plain_value(found[2].strip()), f"{where}:{number}"))
        elif found := _UNSET.fullmatch(line.strip()):
            asked.append(Asked(found[1], "n", f"{where}:{number}"))
    return asked


def read_fragment(path: Path, key: str) -> list[Asked]:
    """Return what a fragment asks for, in its order; `key` names it in a message about the file itself.

    Raises InputError for a file that cannot be read and a line that is neither an option nor a comment.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{key}: {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{key}: {path}: not UTF-8 text, expected lines like CONFIG_SMP=y") from error
    asked = []
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if found := _SET.fullmatch(line):
            asked.append(Asked(found[1], plain_value(found[2].strip()), f"{path}:{number}"))
        elif found := _UNSET.fullmatch(line):
            asked.append(Asked(found[1], "n", f"{path}:{number}"))
        elif line and not line.startswith("#"):
            raise InputError(
                f"{key}: {path}:{number}: not a line of a configuration: {line[:60]!r}",
                hint='CONFIG_SMP=y, CONFIG_HZ=100, CONFIG_CMDLINE="quiet" or # CONFIG_SMP is not set',
            )
    return asked


def collect(build: SourceBuild) -> dict[str, Asked]:
    """Return all that `build` asks for on top of its base, by option; its own `options` have the last word.

    Raises InputError for fragments that contradict each other.
    """
    fragments: dict[str, Asked] = {}
    conflicts = []
    for index, path in enumerate(build.fragments):
        for one in read_fragment(path, f"{build.key}.fragments[{index}]"):
            other = fragments.get(one.option)
            if other is not None and other.value != one.value:
                conflicts.append(f"CONFIG_{one.option}: {other.by} says {other.value}, {one.by} says {one.value}")
            fragments.setdefault(one.option, one)
    # What the options decide anyway is no contradiction.
    conflicts = [line for line in conflicts if line.split(":")[0].removeprefix("CONFIG_") not in build.options]
    if conflicts:
        raise InputError(
            "\n".join(f"{build.key}.fragments: {line}" for line in conflicts),
            hint=f"{build.key}.options overrules fragments",
        )
    options = {name: Asked(name, value, f"{build.key}.options.{name}") for name, value in build.options.items()}
    return {**fragments, **options}


def collect_kernel(build: SourceBuild, *, embedded: bool) -> dict[str, Asked]:
    """Return what `collect` does, and what an initramfs in the image (`embedded`) asks for. Raises InputError."""
    asked = collect(build)
    if "INITRAMFS_SOURCE" in asked and asked["INITRAMFS_SOURCE"].value:
        one = asked["INITRAMFS_SOURCE"]
        raise InputError(f"{one.by}: bootlab sets INITRAMFS_SOURCE itself", hint="initramfs.embedded = true")
    if embedded:
        by = "initramfs.embedded"
        asked["INITRAMFS_SOURCE"] = Asked("INITRAMFS_SOURCE", INITRAMFS_FILE, by)
        if not any(name.startswith("INITRAMFS_COMPRESSION_") and one.value == "y" for name, one in asked.items()):
            asked["INITRAMFS_COMPRESSION_NONE"] = Asked("INITRAMFS_COMPRESSION_NONE", "y", by)
    return asked


def merge(base: str, asked: Iterable[Asked], kinds: Mapping[str, str]) -> str:
    """Return the text of `base` with `asked` in place of what it says of them, for kconfig to complete.

    `kinds`: option -> `bool`, `tristate`, `string`, `int` or `hex`.
    """
    wanted = {**{name: Asked(name, value, "") for name, value in _OURS.items()}, **{one.option: one for one in asked}}
    kept = []
    for line in base.splitlines():
        found = _SET.fullmatch(line) or _UNSET.fullmatch(line)
        if found is None or found[1] not in wanted:
            kept.append(line)
    # Of the members of a choice kconfig takes the last that is y: what is asked for stands last.
    return "\n".join([*kept, *(_line(one, kinds.get(one.option)) for one in wanted.values())]) + "\n"


def same_value(asked: str, got: str | None, kind: str | None) -> bool:
    """Return whether an option that was asked for is what a configuration has; `got` None: it is off or unknown."""
    if kind in ("int", "hex") and got is not None:
        try:
            return int(asked, 0 if kind == "int" else 16) == int(got, 0 if kind == "int" else 16)
        except ValueError:
            return asked == got
    if kind == "string":
        return asked == (got or "")
    return asked == (got or "n")


def option_line(option: str, value: str) -> str:
    """Return the line of a fragment that asks for a value, for who does not know the option's kind."""
    plain = re.fullmatch(r"[ynm]|-?[0-9]+|0x[0-9a-fA-F]+", value)
    return _line(Asked(option, value, ""), None if plain else "string")


def _line(one: Asked, kind: str | None) -> str:
    if kind == "string":
        escaped = one.value.replace("\\", "\\\\").replace('"', '\\"')
        return f'CONFIG_{one.option}="{escaped}"'
    return f"# CONFIG_{one.option} is not set" if one.value == "n" else f"CONFIG_{one.option}={one.value}"


def plain_value(value: str) -> str:
    """Return an option's value as it is asked for: text without its quotes."""
    if len(value) >= 2 and value[0] == value[-1] == '"':
        return re.sub(r"\\(.)", r"\1", value[1:-1])
    return value
