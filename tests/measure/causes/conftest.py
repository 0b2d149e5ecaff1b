"""A guest that gets no further, whose cause a test asks for."""

from pathlib import Path

import pytest

from tests.measure.causes.guests import Case


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path)
