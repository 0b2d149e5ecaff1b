"""The host's side of a check: a text sent to the guest over TCP, and what comes back."""

import asyncio
import contextlib
import re

_ANSWER_BYTES = 1 << 20


async def ask(port: int, text: str, expect: str) -> str:
    """Return what the guest answers on the host's `port`, up to a match of `expect`; an error in brackets."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionError as error:
        return f"({error.strerror or error})"
    try:
        writer.write(text.encode())
        await writer.drain()
        answer = b""
        while len(answer) < _ANSWER_BYTES and (piece := await reader.read(4096)):
            answer += piece
            if re.search(expect, answer.decode(errors="replace")) is not None:
                break
        return answer.decode(errors="replace")
    except ConnectionError as error:
        return f"({error.strerror or error})"
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
