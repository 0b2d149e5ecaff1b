"""What the start of a program costs by how it is linked: what docs/auditing.md concludes holds.

`python -m tests.bench.linking` prints its table.
"""

from pathlib import Path

import pytest

from tests.bench.linking import KINDS, a_start_ns, boot_programs, linking_table

pytestmark = [pytest.mark.bench, pytest.mark.boot]


def test_a_start_by_how_it_is_linked(tmp_path: Path) -> None:
    record = boot_programs(tmp_path)
    spent_ns = a_start_ns(record)
    assert spent_ns["static"] < spent_ns["one"] < spent_ns["sixteen"] < spent_ns["sixteen-sysv"]
    lines = linking_table(record).splitlines()
    assert lines[2 + list(KINDS).index("static")].endswith(f"| {spent_ns['static'] / 1e6:.2f} |")
