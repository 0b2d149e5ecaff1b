"""Lists of whole numbers on the command line: `4`, `1,2,4`, `1..4`."""

import re

from bootlab.errors import InputError

_MOST = 64


def parse_numbers(option: str, text: str, least: int, most: int) -> list[int]:
    """Return the numbers that `text` lists, in its order, each once. Raises InputError that names `option`."""
    numbers: list[int] = []
    for word in text.split(","):
        found = re.fullmatch(r"\s*(\d{1,9})(?:\.\.(\d{1,9}))?\s*", word)
        if found is None:
            raise InputError(f"{option} {text}: not a number or a list of them", hint=f"{option} 4, or 1,2,4, or 1..4")
        first = int(found[1])
        last = int(found[2]) if found[2] is not None else first
        if not least <= first <= last <= most:
            raise InputError(f"{option} {text}: expected {least} to {most}, in rising order")
        if last - first >= _MOST:
            raise InputError(f"{option} {text}: more than {_MOST} boots")
        numbers += range(first, last + 1)
    unique = list(dict.fromkeys(numbers))
    if len(unique) > _MOST:
        raise InputError(f"{option} {text}: more than {_MOST} boots")
    return unique
