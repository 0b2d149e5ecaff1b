"""Lists on the command line: numbers (`4`, `1,2,4`, `1..4`), sizes (`128M,1G`), words."""

import re
from collections.abc import Iterable

from bootlab.errors import InputError

_MOST = 64
MOST_VCPUS = 255
LEAST_MIB, MOST_MIB = 16, 1 << 20
"""What QEMU's machines take, as system/machine.py checks."""


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


def parse_sizes(option: str, text: str, least_mib: int, most_mib: int) -> list[int]:
    """Return the sizes in MiB that `text` lists (`128M,1G`; a bare number is MiB), each once. Raises InputError."""
    if not re.search("[A-Za-z]", text):
        return parse_numbers(option, text, least_mib, most_mib)
    sizes = []
    for word in text.split(","):
        found = re.fullmatch(r"\s*(\d{1,9})\s*(M|G|)(?:i?B)?\s*", word, re.IGNORECASE)
        if found is None:
            raise InputError(f"{option} {text}: not a size or a list of them", hint=f"{option} 128M,512M,2G")
        mib = int(found[1]) * (1024 if found[2].upper() == "G" else 1)
        if not least_mib <= mib <= most_mib:
            raise InputError(f"{option} {text}: expected {least_mib}M to {most_mib // 1024}G")
        sizes.append(mib)
    return list(dict.fromkeys(sizes))


def parse_words(option: str, text: str, known: Iterable[str]) -> list[str]:
    """Return the words that `text` lists, each once, spelled as in `known`. Raises InputError for any other."""
    spelled = {word.lower(): word for word in known}
    words = [word.strip().lower() for word in text.split(",")]
    for word in words:
        if word not in spelled:
            raise InputError(f"{option} {text}: {word!r} is none of {', '.join(spelled.values())}")
    return list(dict.fromkeys(spelled[word] for word in words))


def parse_speeds(option: str, text: str) -> list[float]:
    """Return the speeds that `text` lists, slowest first, each once. Raises InputError."""
    speeds = []
    for word in text.split(","):
        try:
            speed = float(word)
        except ValueError:
            speed = 0.0
        # Written so that a NaN is refused, too.
        if not 1e-3 <= speed <= 1e6:
            raise InputError(f"{option} {text}: {word.strip()!r} is no speed in MB/s", hint=f"{option} 1,10,100,1000")
        speeds.append(speed)
    return sorted(set(speeds))
