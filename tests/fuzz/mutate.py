"""Inputs for fuzzing importers: real recordings, damaged on purpose. The same seed and number give the same bytes.

Our own, and small. Coverage-guided fuzzers (atheris) are compiled for few Python releases and processors, and an input
of theirs has no number to repeat it by; Hypothesis spends more time on an example than an importer does. What finds
faults here is knowing what these files are made of: rows, numbers, names, tables, archives.
"""

import gzip
import io
import random
import re
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_NUMBER: Final = re.compile(rb"\d+(?:\.\d+)?")
_WORD: Final = re.compile(rb"[A-Za-z_][\w.-]*")
_NUMBERS: Final = (
    b"0", b"-1", b"1", b"00", b"2147483647", b"4294967295", b"4294967296", b"9223372036854775807",
    b"18446744073709551616", b"1" + b"0" * 30, b"9" * 400, b"9" * 5000, b"1e999", b"1e-999", b"nan", b"inf", b"-0",
    b"0x7fffffff", b"1.7976931348623157e308", b"\xd9\xa3", b"1,2,3", b".", b"1.", b".5",
)  # fmt: skip
"""The \\xd9\\xa3 is a digit, of another script."""
_HOSTILE: Final = (
    b"\x1b]0;owned\x07", b"\x1b[2J\x1b[1;31m", b"<script>alert(1)</script>", b"</script><img src=x onerror=1>", b"\0",
    b"\xe2\x80\xae", b"\xff\xfe", b"\xc3", b"\r", b"\x0b\x0c\x85", b"%s%n", b"../../etc/passwd", b'"', b"'", b"\\",
    b"[[[[", b"}}}}", b";", b"\t", b"    ", b"(null)", b"\xef\xbb\xbf", b"\xf0\x9f\x98\x80", b"=\n", b"=3D",
)  # fmt: skip
_INTEGERS: Final = (0, 1, 127, 255, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1)
_MOST_BYTES: Final = 3_000
_LARGEST: Final = 100_000
"""More than the longest row that is read whole, and little enough that making an input takes no memory to speak of."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A file to start from, unpacked. `format`: the importer that it is for. `members`: what is in it, for a tar."""

    name: str
    format: str
    data: bytes
    members: tuple[tuple[str, bytes], ...] = ()


def members_of(data: bytes) -> tuple[tuple[str, bytes], ...]:
    """Return name and content of what is in a tar archive; nothing for what is none."""
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            streams = [(one.name, archive.extractfile(one)) for one in archive.getmembers() if one.isfile()]
            return tuple((name, stream.read()) for name, stream in streams if stream is not None)
    except (tarfile.TarError, EOFError, OSError):
        return ()


class Mutator:
    """Makes inputs of samples: `make(format, number)`."""

    def __init__(self, samples: Sequence[Sample], seed: int) -> None:
        self._samples = list(samples)
        self._of = {one.format: [other for other in samples if other.format == one.format] for one in samples}
        self._seed = seed

    def make(self, format_name: str, number: int) -> bytes:
        """Return input `number` for a format: mostly of its own samples, now and then of another's, or only noise."""
        chance = random.Random(f"{self._seed} {format_name} {number}")
        if chance.random() < 0.02:
            return chance.randbytes(chance.randrange(2_000))
        own = self._of.get(format_name, self._samples)
        sample = chance.choice(own if chance.random() < 0.85 else self._samples)
        data = self._archive(sample, chance) if sample.members else self._damage(sample.data, chance)
        if chance.random() < 0.01:
            data = gzip.compress(data, 1)
            data = _flip(data, chance) if chance.random() < 0.5 else data[: chance.randrange(len(data))]
        elif chance.random() < 0.01:
            data = _flip(data.decode(errors="replace").encode("utf-16"), chance)
        return data

    def _archive(self, sample: Sample, chance: random.Random) -> bytes:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            for name, content in sample.members:
                if chance.random() < 0.1:
                    continue
                member = tarfile.TarInfo(name if chance.random() < 0.97 else f"../{name}")
                content = self._damage(content, chance) if chance.random() < 0.4 else _piece(content, chance)
                member.size = len(content)
                if chance.random() < 0.03:
                    # A header that claims 4 GiB, with a right checksum.
                    member.size = 2**32
                    out.write(member.tobuf() + content)
                    break
                archive.addfile(member, io.BytesIO(content))
        packed = out.getvalue()
        return _flip(packed, chance) if chance.random() < 0.1 else packed

    def _damage(self, data: bytes, chance: random.Random) -> bytes:
        data = _piece(data, chance)
        text = b"\0" not in data[:64]
        ways = (_ROWS if text else ()) + _BYTES
        for _ in range(chance.choice((0, 1, 1, 2, 3, 5, 8))):
            data = chance.choice(ways)(data, chance)[:_LARGEST]
            if chance.random() < 0.1:
                data = self._spliced(data, chance)
        return data

    def _spliced(self, data: bytes, chance: random.Random) -> bytes:
        other = _piece(chance.choice(self._samples).data, chance)
        at = chance.randrange(len(data) + 1)
        return data[:at] + other[: chance.randrange(len(other) + 1)] + data[at:]


def _piece(data: bytes, chance: random.Random) -> bytes:
    # Small inputs are many inputs. What tells a format is at the beginning, and what closes it at the end.
    if len(data) <= _MOST_BYTES:
        return data
    if data.startswith(b"[{"):
        return _fewer(data, chance)
    if data[:400].lstrip().startswith((b"<?xml", b"<svg")):
        return _thinner(data, chance)
    if chance.random() < 0.2:
        start = chance.randrange(len(data) - _MOST_BYTES)
        return data[start : start + chance.randrange(200, _MOST_BYTES)]
    rows = data[: 64 * _MOST_BYTES].split(b"\n")
    wanted = max(4, len(rows) * _MOST_BYTES // min(len(data), 64 * _MOST_BYTES))
    first, last = rows[: wanted // 3], data[-_MOST_BYTES // 4 :].split(b"\n")[1:][-wanted // 4 :]
    at = chance.randrange(len(rows))
    return b"\n".join((*first, *rows[max(at, len(first)) :][: wanted // 3], *last))[: 2 * _MOST_BYTES]


def _thinner(data: bytes, chance: random.Random) -> bytes:
    # A drawing keeps its head, its end, and some of its axis, bars and comments: each means nothing without the others.
    head, middle, end = _parts_of_drawing(data)
    chosen = sorted(chance.sample(range(len(middle)), min(len(middle), chance.choice((20, 60, 150)))))
    return b"\n".join((*head, *(middle[at] for at in chosen), *end))


@lru_cache(maxsize=8)
def _parts_of_drawing(data: bytes) -> tuple[list[bytes], list[bytes], list[bytes]]:
    rows = data.split(b"\n")
    telling = (b'class="sec"', b'class="ps"', b"<!--", b"<text", b'class="activ', b'class="active"')
    return rows[:44], [row for row in rows[44:-3] if any(one in row for one in telling)], rows[-3:]


def _fewer(data: bytes, chance: random.Random) -> bytes:
    # A JSON list stays one, with fewer elements.
    elements = data.strip()[1:-1].split(b"},{")
    at = chance.randrange(len(elements))
    chosen = elements[at : at + chance.randrange(1, 20)]
    return b"[{" + b"},{".join(one.strip(b"{}") for one in chosen) + b"}]"


def _rows(change: Callable[[list[bytes], random.Random], None]) -> Callable[[bytes, random.Random], bytes]:
    def changed(data: bytes, chance: random.Random) -> bytes:
        rows = data.split(b"\n")
        change(rows, chance)
        return b"\n".join(rows)

    return changed


def _drop(rows: list[bytes], chance: random.Random) -> None:
    at = chance.randrange(len(rows))
    del rows[at : at + chance.randrange(1, 6)]


def _repeat(rows: list[bytes], chance: random.Random) -> None:
    at = chance.randrange(len(rows))
    rows[at:at] = rows[at : at + chance.randrange(1, 4)] * chance.choice((1, 2, 20, 200))


def _swap(rows: list[bytes], chance: random.Random) -> None:
    one, other = chance.randrange(len(rows)), chance.randrange(len(rows))
    rows[one], rows[other] = rows[other], rows[one]


def _prefix(rows: list[bytes], chance: random.Random) -> None:
    prefix = chance.choice(
        (b"> ", b"<6>", b"<999>", b"\x1b[0m", b"[    0.000000] ", b"[99999.999999][    T1] ", b"  ", b"\t")
    )
    for at in range(len(rows)):
        rows[at] = prefix + rows[at]


def _endings(rows: list[bytes], chance: random.Random) -> None:
    ending = chance.choice((b"\r", b"=", b"\\", b"\0", b" " * 50))
    for at in range(len(rows)):
        rows[at] += ending


def _endless(rows: list[bytes], chance: random.Random) -> None:
    rows[chance.randrange(len(rows))] += chance.choice((b"x", b" ", b"9", b"a,", b"[", b"(", b"\xc3")) * chance.choice(
        (300, 5_000, 70_000)
    )


def _replaced(pattern: re.Pattern[bytes], by: Sequence[bytes] | None) -> Callable[[bytes, random.Random], bytes]:
    def changed(data: bytes, chance: random.Random) -> bytes:
        places = [found.span() for found in pattern.finditer(data)]
        if not places:
            return data
        for _ in range(chance.choice((1, 1, 3))):
            start, end = chance.choice(places)
            # Without a list: by something of the same kind, from elsewhere in the file.
            new = chance.choice(by) if by is not None else data[slice(*chance.choice(places))]
            data = data[:start] + new + data[end:]
        return data

    return changed


def _truncate(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _flip(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 2, 8))):
        if changed:
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _hostile(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(_HOSTILE) + data[at:]


def _integer(data: bytes, chance: random.Random) -> bytes:
    width, order = chance.choice((2, 4, 8)), chance.choice(("little", "big"))
    at = chance.randrange(max(len(data) // 4, 1)) * 4
    value = chance.choice(_INTEGERS) & ((1 << 8 * width) - 1)
    return data[:at] + value.to_bytes(width, "little" if order == "little" else "big") + data[at + width :]


_ROWS: Final = (
    *(_rows(one) for one in (_drop, _drop, _repeat, _swap, _swap, _prefix, _endings, _endless)),
    _replaced(_NUMBER, _NUMBERS),
    _replaced(_NUMBER, _NUMBERS),
    _replaced(_NUMBER, None),
    _replaced(_WORD, _HOSTILE),
    _replaced(_WORD, None),
    _replaced(_WORD, _NUMBERS),
)
_BYTES: Final = (_truncate, _flip, _hostile, _integer)
