"""Puts errors into the command line's words: an option's name where the error names a key of a system file.

What builds knows the keys of a system file alone, and its errors and hints name them in full: `rootfs.journal = false`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from pydantic import ValidationError

from bootlab.errors import InputError, MissingTool
from bootlab.system.complaint import complaints
from bootlab.system.part import Part

PartT = TypeVar("PartT", bound=Part)


@contextmanager
def naming_options(options: Mapping[str, str]) -> Iterator[Callable[[str], str]]:
    """Put options in place of the keys that an error below names. `options`: key, `rootfs.init`, -> its option.

    Yields what does the same to a line that is told.
    """
    try:
        yield lambda line: in_options(line, options)
    except (InputError, MissingTool) as error:
        hint = error.hint and in_options(error.hint, options)
        raise type(error)(in_options(error.message, options), hint=hint) from error


def made_of_options(kind: type[PartT], given: Mapping[str, object], options: Mapping[str, str], verb: str) -> PartT:
    """Return the part of a system that `given` describes, its keys as `options` has them, without the part's name.

    Raises InputError with every mistake, in the words of the command line.
    """
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        lines = [in_options(line.removeprefix("(whole file): "), options) for line in complaints(error)]
        raise InputError("\n".join(lines), hint=f"{verb} --help") from error


def in_options(text: str, options: Mapping[str, str]) -> str:
    """Return `text` with each key as the option that says the same, and `KEY = value` as one types it."""
    keys = "|".join(re.escape(key) for key in sorted(options, key=len, reverse=True))
    # What the key holds: a list's element, the path of a file, an option of the kernel.
    inside = r'(?:\[\d+\]|\."(?P<path>[^"]*)"|\.(?P<name>[A-Z0-9]\w*))?'
    value = r'(?: = (?:"(?P<text>[^"]*)"|(?P<word>\w+)))?'
    pattern = re.compile(rf"(?<![\w/-])(?P<key>{keys})(?![\w-]){inside}{value}")

    def option(found: re.Match[str]) -> str:
        name = options[found["key"]]
        switch = name.removeprefix("--no-").removeprefix("--")
        if found["word"] in ("true", "false"):
            return f"--{switch}" if found["word"] == "true" else f"--no-{switch}"
        words = [found[group] for group in ("path", "name", "text", "word") if found[group] is not None]
        return " ".join([name, *words])

    # What was got is the user's own word, whatever it reads as.
    said, got, rest = text.partition(", got ")
    return pattern.sub(option, said) + got + rest
