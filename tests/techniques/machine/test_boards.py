"""A board has the CPUs and the memory that it has."""

import pytest

from bootlab.system import System
from bootlab.techniques.model.evidence import Measured
from tests.techniques.asking import ALL


@pytest.mark.parametrize("name", ["machine_one_vcpu", "machine_two_vcpus", "machine_memory_half"])
def test_a_boards_cpus_and_memory_are_what_they_are(board: System, name: str, measured: Measured) -> None:
    assert ALL[name].change.applies(board, measured) == "orangepi-pc is a board, which has what it has"
