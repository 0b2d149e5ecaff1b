"""Entries of a journal in the forms that journalctl writes them in."""

import json

import pytest

from bootlab.importers.systemd.journal_entries import form_of, parse_entries
from tests.importers.samples import DATA

FILES = {"json": "boot.json", "export": "boot.export", "verbose": "boot-verbose.txt"}


def data(form: str) -> bytes:
    return (DATA / "journal" / FILES[form]).read_bytes()


@pytest.mark.parametrize("form", FILES)
def test_every_form_has_the_same_entries(form: str) -> None:
    assert form_of(data(form)) == form
    entries, whole = parse_entries(data(form), form), parse_entries(data("json"), "json")
    keys = ("MESSAGE", "__MONOTONIC_TIMESTAMP", "_BOOT_ID", "_TRANSPORT", "UNIT", "MESSAGE_ID")
    assert [[one.get(key) for key in keys] for one in entries.entries] == [
        [one.get(key) for key in keys] for one in whole.entries
    ]
    assert len(whole.entries) == data("json").count(b"\n") and entries.damaged == 0


def test_a_field_of_any_bytes_has_its_length_before_it() -> None:
    text = b"__CURSOR=x\nMESSAGE\n" + (7).to_bytes(8, "little") + b"two\nrow\nPRIORITY=6\n\n"
    assert parse_entries(text, "export").entries == [{"__CURSOR": "x", "MESSAGE": "two\nrow", "PRIORITY": "6"}]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (b'{"MESSAGE": "a"}\n{"MESSAGE": "b\n', "json"),
        (b"A=1\n\nMESSAGE\n" + (1 << 60).to_bytes(8, "little") + b"x\n", "export"),
        (b"A=1\n\nno field\n\n", "export"),
    ],
)
def test_a_damaged_entry_is_counted_and_shown(text: bytes, form: str) -> None:
    found = parse_entries(text, form)
    assert (len(found.entries), found.damaged) == (1, 1) and found.first_damaged


def test_a_message_that_is_no_text_is_a_list_of_bytes() -> None:
    entries = parse_entries(b'{"MESSAGE": [104, 105, 255], "A": null, "B": ["x", "y"]}\n', "json").entries
    assert entries == [{"MESSAGE": "hi\ufffd", "A": "", "B": "x"}]


@pytest.mark.parametrize("text", [b"", b"{}", b"__CURSOR=x\n", b"Mon 2024-03-04 10:00:00 UTC host kernel: x\n"])
def test_anything_else_is_no_journal(text: bytes) -> None:
    assert form_of(text) == ""


def test_pretty_json_has_the_same_entries() -> None:
    documents = [json.loads(row) for row in data("json").splitlines()]
    pretty = "".join(json.dumps(one, indent=8) + "\n" for one in documents).encode()
    assert form_of(pretty) == "json"
    assert parse_entries(pretty, "json").entries == parse_entries(data("json"), "json").entries
    assert parse_entries(pretty[:-20], "json").damaged == 1
