"""Figures of boots that every machine must measure alike, on record in tests/data/expected-figures.json."""

import json
import os
from pathlib import Path

import pytest

from bootlab.measure.record import BootRecord
from bootlab.timeline import marks as m

EXPECTED = Path(__file__).parents[1] / "data" / "expected-figures.json"


def figures(record: BootRecord) -> dict[str, object]:
    """Return what another machine must measure too; exits and pages by class where the boot was charged for them."""
    counts = {name: charge.count for name, charge in sorted(record.charges.items())}
    return {
        "instructions": record.instructions,
        "idle_ns": record.idle_ns,
        "marks": {name: record.marks[name] for name in m.BOOT_ORDER if name in record.marks},
        "console_sha256": record.console_sha256,
        **({"counts": counts} if counts else {}),
    }


def expected_key(record: BootRecord) -> str:
    """Return what the figures depend on: the boot's inputs by hash. The plugin is not among them: it cannot matter."""
    parts = [f"{name} {record.hashes[name][:16]}" for name in sorted(record.hashes) if name != "plugin"]
    return f"{record.system}: " + ", ".join(parts)


def compare_with_record(record: BootRecord) -> None:
    """Fail where this boot's figures are not those on record; skip with them in the words where none are on record.

    BOOTLAB_GOLDEN=write puts them on record.
    """
    known = json.loads(EXPECTED.read_text())
    key = expected_key(record)
    if os.environ.get("BOOTLAB_GOLDEN") == "write":
        known[key] = figures(record)
        EXPECTED.write_text(json.dumps(known, indent=1) + "\n")
    if key not in known:
        pytest.skip(f"no expected figures for {key}; measured: {json.dumps(figures(record))}")
    assert figures(record) == known[key]
