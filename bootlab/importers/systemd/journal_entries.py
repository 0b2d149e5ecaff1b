"""Entries of systemd's journal, as `journalctl -o json`, `export` and `verbose` write them -> their fields.

{"__MONOTONIC_TIMESTAMP": "5242880", "MESSAGE": "Linux version 6.12", ...}        json: one a line, or pretty
__MONOTONIC_TIMESTAMP=5242880                                                      export: an empty line between
Fri 2026-11-20 10:00:00.123456 UTC [s=...;i=1;b=...;m=500000;t=...;x=...]          verbose: fields indented below
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

Fields = dict[str, str]
_LONGEST_VALUE: Final = 4096
_NAME = re.compile(rb"[A-Z_][A-Z0-9_]{0,63}")
_VERBOSE_HEAD = re.compile(
    r"[^\W\d_]{1,5}\.? \d{4}-\d\d-\d\d [\d:.]{8,20} \S{1,12} \[s=\w{1,32};i=\w{1,16};b=(?P<boot>\w{1,32});"
    r"m=(?P<monotonic>[0-9a-f]{1,16});t=\w{1,16};x=\w{1,16}\]"
)
_VERBOSE_FIELD = re.compile(r" {4}(?P<name>[A-Z_][A-Z0-9_]{0,63})=(?P<value>.*)")


@dataclass(slots=True)
class JournalEntries:
    """What a file holds. `damaged`: entries that could not be read; `first_damaged` is how the first of them begins."""

    entries: list[Fields] = field(default_factory=list)
    damaged: int = 0
    first_damaged: str = ""


def form_of(data: bytes) -> str:
    """Return in which form a file that begins so is written: `json`, `export` or `verbose`; empty for any other."""
    head = data.lstrip()[:65536]
    if head[:1] == b"{" and b'"__MONOTONIC_TIMESTAMP"' in head and b'"_BOOT_ID"' in head:
        return "json"
    if head.startswith(b"__CURSOR=") and b"\n__MONOTONIC_TIMESTAMP=" in head:
        return "export"
    first = head.split(b"\n", 1)[0].decode(errors="replace")
    return "verbose" if _VERBOSE_HEAD.match(first) is not None else ""


def parse_entries(data: bytes, form: str) -> JournalEntries:
    """Return the entries of a file of a form that `form_of` names."""
    found = JournalEntries()
    reader = {"json": _json, "export": _export, "verbose": _verbose}[form]
    for entry, text in reader(data):
        if entry:
            found.entries.append(entry)
        else:
            found.damaged += 1
            found.first_damaged = found.first_damaged or text[:120]
    return found


def _json(data: bytes) -> Iterator[tuple[Fields | None, str]]:
    text = data.decode(errors="replace")
    # json-pretty spreads an entry over many lines, between one of `{` and one of `}`.
    pretty = text.lstrip()[:2] in ("{\n", "{\r")
    rows = re.findall(r"(?ms)^\{\s*$.*?(?:^\}\s*?$|\Z)", text) if pretty else text.split("\n")
    for row in rows:
        if row.strip():
            try:
                document = json.loads(row)
            except (ValueError, RecursionError):
                document = None
            fields = {str(key): _text(value) for key, value in document.items()} if isinstance(document, dict) else None
            yield fields, row.strip()


def _text(value: Any) -> str:
    # What is no text is a list of its bytes; what is there several times, a list of texts; too long, null.
    if isinstance(value, str):
        return value[:_LONGEST_VALUE]
    if isinstance(value, list) and all(isinstance(one, int) and 0 <= one < 256 for one in value):
        return bytes(value[:_LONGEST_VALUE]).decode(errors="replace")
    return _text(value[0]) if isinstance(value, list) and value and isinstance(value[0], str) else ""


def _export(data: bytes) -> Iterator[tuple[Fields | None, str]]:
    fields: Fields = {}
    at, broken = 0, ""
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        row = data[at:end]
        at = end + 1
        name, equals, value = row.partition(b"=")
        if not row:
            if fields or broken:
                yield (None if broken else fields), broken
            fields, broken = {}, ""
        elif _NAME.fullmatch(name) is None:
            broken = broken or row[:120].decode(errors="replace")
        elif equals:
            fields[name.decode()] = value[:_LONGEST_VALUE].decode(errors="replace")
        else:
            # Eight bytes of length, that many of anything, and a line end.
            length = int.from_bytes(data[at : at + 8], "little")
            if at + 8 + length > len(data):
                broken = broken or row.decode(errors="replace")
                continue
            fields[name.decode()] = data[at + 8 : at + 8 + min(length, _LONGEST_VALUE)].decode(errors="replace")
            at += 8 + length + 1
    if fields or broken:
        yield (None if broken else fields), broken


def _verbose(data: bytes) -> Iterator[tuple[Fields | None, str]]:
    fields: Fields | None = None
    for row in data.decode(errors="replace").split("\n"):
        if (head := _VERBOSE_HEAD.match(row)) is not None:
            if fields is not None:
                yield fields, row
            fields = {"__MONOTONIC_TIMESTAMP": str(int(head["monotonic"], 16)), "_BOOT_ID": head["boot"]}
        elif (found := _VERBOSE_FIELD.match(row)) is not None and fields is not None:
            fields[found["name"]] = found["value"][:_LONGEST_VALUE]
    if fields is not None:
        yield fields, ""
