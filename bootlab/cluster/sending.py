"""Sends inputs to the workers that lack them, in pieces, each worker once; a worker looks whether they came whole."""

import secrets
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from distributed import Client

from bootlab.cluster.order import Input
from bootlab.cluster.worker import finish, lacking, take
from bootlab.errors import BootFailed, InputError, Interrupted

PIECE: Final = 8 << 20
_TRIES: Final = 2


class Sending:
    """What this client has sent, and to whom."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._has: dict[str, set[str]] = {}
        self._lock = threading.Lock()
        self._me = secrets.token_hex(6)
        self.sent_bytes = 0

    def deliver(self, inputs: Sequence[Input], workers: list[str], cancelled: Callable[[], bool]) -> dict[str, str]:
        """Let each of `workers` have inputs of a boot or a kernel, and return which of them cannot keep one, and why.

        One that is lost meanwhile is not told of. Raises Interrupted, InputError for a file that has changed,
        BootFailed where the cluster is lost.
        """
        wanted = {one.sha256 for one in inputs}
        with self._lock:
            new = [one for one in workers if not wanted <= self._has.get(one, set())]
            problems: dict[str, str] = {}
            if not new:
                return problems
            said = self.run(lacking, tuple(inputs), workers=new)
            for one in inputs:
                needy = [worker for worker in said if one.sha256 in said[worker] and worker not in problems]
                if needy:
                    problems |= self._send(one, needy, cancelled)
            for worker in said.keys() - problems.keys():
                self._has.setdefault(worker, set()).update(wanted)
            return problems

    def forget(self, worker: str, sha256s: Iterable[str]) -> None:
        """Send these to a worker again, which says that it has not got them, or has them no longer whole."""
        with self._lock:
            self._has.get(worker, set()).difference_update(sha256s)

    def _send(self, one: Input, workers: list[str], cancelled: Callable[[], bool]) -> dict[str, str]:
        problems: dict[str, str] = {}
        for _ in range(_TRIES):
            problems |= self._send_pieces(one, workers, cancelled)
            workers = [worker for worker in workers if worker not in problems]
            said = self.run(finish, one.sha256, self._me, workers=workers) if workers else {}
            problems |= _problems(said)
            workers = [worker for worker, whole in said.items() if whole is False]
            if not workers:
                return problems
        raise InputError(
            f"{one.path}: came to {len(workers)} of the workers as something else, twice: it is being written to, or "
            "the network damages it",
            hint="begin again when nothing changes the file any more",
        )

    def _send_pieces(self, one: Input, workers: list[str], cancelled: Callable[[], bool]) -> dict[str, str]:
        problems: dict[str, str] = {}
        try:
            with one.path.open("rb") as source:
                offset = 0
                while workers:
                    if cancelled():
                        raise Interrupted("interrupted")
                    piece = source.read(PIECE)
                    problems |= _problems(self.run(take, one.sha256, offset, piece, self._me, workers=workers))
                    self.sent_bytes += len(piece) * len(workers)
                    offset += len(piece)
                    workers = [worker for worker in workers if worker not in problems]
                    if len(piece) < PIECE:
                        break
        except OSError as error:
            raise InputError(f"{one.path}: {error.strerror or error}: a boot needs it") from error
        return problems

    def run(self, function: Callable[..., Any], *words: Any, workers: list[str]) -> dict[str, Any]:
        """Return what a function says on each of these workers that is there. Raises BootFailed."""
        try:
            said: dict[str, Any] = self._client.run(function, *words, workers=workers, on_error="ignore")
        except (OSError, RuntimeError, ValueError, TimeoutError) as error:
            raise BootFailed(f"the cluster is gone: {error}", hint="start it again, then the same command") from error
        return said


def _problems(said: dict[str, Any]) -> dict[str, str]:
    return {worker: problem for worker, problem in said.items() if isinstance(problem, str)}
