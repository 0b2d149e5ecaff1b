"""What the plugin asks the peer, and how it is answered: the other end is plugin/network/protocol.h."""

from typing import Final

from bootlab.network.frames import Give, Mark, Reply, Wake

VERSION: Final = 1
QUESTION_MOST: Final = 256
LAST: Final = b"."


def answer_bytes(reply: Reply) -> bytes:
    """Return the message that says this to the plugin."""
    match reply:
        case Give():
            return b"F" + reply.t_ns.to_bytes(8, "little") + reply.frame
        case Wake():
            return b"W" + reply.t_ns.to_bytes(8, "little")
        case Mark():
            return b"M" + reply.name.encode("ascii")


def read_question(message: bytes) -> tuple[str, int, str]:
    """Return what happened, when, and a mark's name: `("mark", 1500, "ready")`. Raises ValueError for anything else."""
    words = message.decode("ascii").split(" ")
    if len(words) not in (2, 3) or (words[0] == "mark") != (len(words) == 3):
        raise ValueError(f"not a question of the plugin: {message!r}")
    return words[0], int(words[1]), words[2] if len(words) == 3 else ""
