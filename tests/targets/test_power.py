"""A command of a target that fails is a boot not started, and its key is named."""

import asyncio

import pytest

from bootlab.errors import BootFailed
from bootlab.targets.power import run_command


def test_what_a_command_writes_is_returned_and_its_failure_has_its_key() -> None:
    assert asyncio.run(run_command("target.power_on", ["sh", "-c", "echo $WHO"], 10, {"WHO": "me"})).text == "me\n"
    with pytest.raises(BootFailed, match=r"^target\.power_on: sh: exit status 7"):
        asyncio.run(run_command("target.power_on", ["sh", "-c", "exit 7"], 10))
