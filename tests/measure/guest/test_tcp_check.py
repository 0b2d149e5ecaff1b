"""The host's side of a check over TCP, against a real server on this machine."""

import asyncio

from bootlab.measure.guest.tcp_check import ask


async def _asked(pieces: list[bytes], expect: str, *, wait: bool = True) -> tuple[str, bytes]:
    got = bytearray()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        got.extend(await reader.read(4096))
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.01)
        if wait:
            await reader.read()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        text = await asyncio.wait_for(ask(port, "ping\n", expect), 10)
    return text, bytes(got)


def test_an_answer_in_pieces_is_read_up_to_what_is_expected() -> None:
    # The server would wait for ever: the match alone ends it.
    assert asyncio.run(_asked([b"po", b"ng 4", b"2\n"], r"pong \d\d")) == ("pong 42\n", b"ping\n")


def test_an_answer_that_never_matches_is_all_that_came() -> None:
    assert asyncio.run(_asked([b"no\xff"], "pong", wait=False))[0] == "no\N{REPLACEMENT CHARACTER}"


def test_without_anybody_there_the_answer_is_the_error() -> None:
    # QEMU holds the port, and may have died by now.
    async def refused() -> str:
        server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        server.close()
        await server.wait_closed()
        return await ask(port, "ping\n", "pong")

    answer = asyncio.run(refused())
    assert answer.startswith("(") and answer.endswith(")") and "pong" not in answer
