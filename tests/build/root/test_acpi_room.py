"""An initramfs beside a microVM's ACPI tables is of whole pages; every other one stays as it is."""

from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.root.acpi_room import clear_of_acpi
from bootlab.system import System


def system(machine: dict[str, object], entry: str = "pvh") -> System:
    return System.model_validate(
        {
            "name": "test",
            "machine": machine,
            "kernel": {"image": "/dev/null", "entry": entry},
            "initramfs": {"path": "/dev/null"},
            "booted": {"mark": "ready"},
        }
    )


def test_an_archive_is_padded_to_whole_pages_with_what_a_kernel_skips(tmp_path: Path) -> None:
    archive, cache = tmp_path / "archive", Cache(tmp_path / "cache")
    archive.write_bytes(b"a" * 5000)
    padded = clear_of_acpi(system({"type": "microvm"}), archive, cache)
    assert padded is not None and padded.read_bytes() == (b"a" * 5000).ljust(8192, b"\0")
    assert clear_of_acpi(system({"type": "microvm"}), padded, cache) is padded


@pytest.mark.parametrize(
    ("machine", "entry"),
    [
        ({"type": "q35"}, "pvh"),
        ({"type": "microvm", "options": {"acpi": "off"}}, "pvh"),
        ({"type": "microvm"}, "image"),
    ],
)
def test_where_no_tables_are_in_the_way_nothing_is_changed(
    tmp_path: Path, machine: dict[str, object], entry: str
) -> None:
    archive = tmp_path / "archive"
    archive.write_bytes(b"a" * 5000)
    assert clear_of_acpi(system(machine, entry), archive, Cache(tmp_path / "cache")) is archive
