"""Runs the commands of a target, for power, delivery or a cloud, so that one that fails is a boot not started."""

import asyncio
from collections.abc import Mapping

from bootlab.errors import BootFailed
from bootlab.process import Output, ProgramFailed, run


async def run_command(
    key: str, argv: list[str], deadline_s: float, env: Mapping[str, str] | None = None, input: bytes = b""
) -> Output:
    """Run a command to its end and return what it wrote. `key`: where the system file has it. Raises BootFailed.

    `input` is all that its standard input holds.
    """
    try:
        return await asyncio.to_thread(run, argv, deadline_s=deadline_s, env=env, input=input)
    except ProgramFailed as error:
        raise BootFailed(f"{key}: {error.message}", hint="run the command by hand") from error
