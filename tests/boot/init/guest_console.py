"""A machine that is watched to its end, or to some text on its console."""

from collections.abc import Sequence
from pathlib import Path

from bootlab.targets.qemu.session import QemuSession
from bootlab.targets.target import ConsoleBytes, Ended, EndReason


async def watch(
    argv: Sequence[str], qmp_socket: Path, stderr: Path, until: bytes | None = None
) -> tuple[str, EndReason | None]:
    """Run it; return its console, and why it ended. With `until` it is stopped once that is on the console."""
    console, reason = b"", None
    async with QemuSession(argv, qmp_socket, stderr=stderr) as session:
        await session.power_on()
        async for event in session.events():
            if isinstance(event, ConsoleBytes):
                console += event.data
            if isinstance(event, Ended):
                reason = event.reason
            if until is not None and until in console:
                await session.stop()
    return console.decode(errors="replace").replace("\r", ""), reason
