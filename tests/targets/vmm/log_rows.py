"""What a VMM's log makes of rows that are written into its pipe."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from bootlab.targets.vmm.log import LogPipe

Log = TypeVar("Log", bound=LogPipe)


def read_rows(folder: Path, make: Callable[[Path], Log], *rows: str) -> Log:
    """Write rows into the pipe and let them be read."""

    async def follow() -> Log:
        log = make(folder / "log")
        with open(folder / "log", "wb", buffering=0) as file:
            for row in rows:
                file.write(row.encode())
                await asyncio.sleep(0.01)
        log.close()
        log.close()
        return log

    return asyncio.run(follow())
