"""The tables of keys in the documents are those of the models; `make golden` writes them anew."""

import os
from pathlib import Path

import pytest

from bootlab.system import System
from scripts.model_tables.tables import document_table, documents, keys_of, system_table, with_table

ROOT = Path(__file__).resolve().parent.parent
TABLES = {"systems": system_table, "formats": document_table}


@pytest.mark.parametrize("name", TABLES)
def test_a_document_has_the_keys_of_its_models(name: str) -> None:
    path = ROOT / "docs" / f"{name}.md"
    expected = with_table(path.read_text(), name, TABLES[name]())
    if os.environ.get("BOOTLAB_GOLDEN") == "write":
        path.write_text(expected)
    assert path.read_text() == expected, "make golden writes it"


def test_every_key_of_a_system_file_is_there_with_what_it_may_be() -> None:
    keys = {key.path: key for key in keys_of(System)}
    assert keys["machine.type"].default == "required" and "`q35`" in keys["machine.type"].kind
    assert keys["clock.kind"].default == "`virtual`"
    assert keys["machine.vcpus"].kind == "integer"
    assert keys["disks[].attach"].kind.startswith("`virtio`")
    assert "target.boots" in keys and "target.power_on" in keys
    assert {f"network.probes.NAME.{name}" for name in ("tcp", "ping", "expect")} <= keys.keys()
    assert keys["extensions"].kind == "list of path"


def test_every_named_document_has_a_table() -> None:
    table = document_table()
    assert len(documents()) > 25
    assert all(f"### {name}\n" in table for name in documents())
    assert "| `boots[].marks` | table: text -> integer |" in table


def test_a_document_without_the_place_for_a_table_is_refused() -> None:
    with pytest.raises(ValueError, match="expected one <!-- keys: systems -->"):
        with_table("text", "systems", "| x |")
