"""Sends inputs to the workers that lack them, in pieces, each worker once; a worker looks whether they came whole."""

import secrets
import threading
from collections.abc import Callable, Iterable
from typing import Any, Final

from distributed import Client

from bootlab.cluster.order import Input, Order
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

    def deliver(self, order: Order, workers: list[str], cancelled: Callable[[], bool]) -> None:
        """Let each of `workers` have the inputs of a boot. One that is lost meanwhile is none of ours.

        Raises Interrupted; InputError for a file that has changed; BootFailed where the cluster is lost.
        """
        wanted = {one.sha256 for one in order.inputs}
        with self._lock:
            new = [one for one in workers if not wanted <= self._has.get(one, set())]
            if not new:
                return
            said = self._run(lacking, order.inputs, workers=new)
            for one in order.inputs:
                needy = [worker for worker in new if one.sha256 in said.get(worker, ())]
                if needy:
                    self._send(one, needy, cancelled)
            for worker in said:
                self._has.setdefault(worker, set()).update(wanted)

    def forget(self, worker: str, sha256s: Iterable[str]) -> None:
        """Send these to a worker again, which says that it has not got them, or has them no longer whole."""
        with self._lock:
            self._has.get(worker, set()).difference_update(sha256s)

    def _send(self, one: Input, workers: list[str], cancelled: Callable[[], bool]) -> None:
        for _ in range(_TRIES):
            self._send_pieces(one, workers, cancelled)
            said = self._run(finish, one.sha256, self._me, workers=workers)
            _expect_kept(said, one)
            workers = [worker for worker, whole in said.items() if whole is not True]
            if not workers:
                return
        raise InputError(
            f"{one.path}: came to {len(workers)} of the workers as something else, twice: it is being written to, or "
            "the network damages it",
            hint="begin again when nothing changes the file any more",
        )

    def _send_pieces(self, one: Input, workers: list[str], cancelled: Callable[[], bool]) -> None:
        try:
            with one.path.open("rb") as source:
                offset = 0
                while True:
                    if cancelled():
                        raise Interrupted("interrupted")
                    piece = source.read(PIECE)
                    if not piece and offset:
                        return
                    _expect_kept(self._run(take, one.sha256, offset, piece, self._me, workers=workers), one)
                    self.sent_bytes += len(piece) * len(workers)
                    offset += len(piece)
                    if len(piece) < PIECE:
                        return
        except OSError as error:
            raise InputError(f"{one.path}: {error.strerror or error}: a boot needs it") from error

    def _run(self, function: Callable[..., Any], *words: Any, workers: list[str]) -> dict[str, Any]:
        try:
            said: dict[str, Any] = self._client.run(function, *words, workers=workers, on_error="ignore")
        except (OSError, RuntimeError, ValueError, TimeoutError) as error:
            raise BootFailed(f"the cluster is gone: {error}", hint="start it again, then the same command") from error
        return said


def _expect_kept(said: dict[str, Any], one: Input) -> None:
    for worker, problem in said.items():
        if isinstance(problem, str):
            raise BootFailed(
                f"{worker}: {problem}",
                hint=f"it needs room for {one.path.name}, {one.size >> 20} MiB, in its cache (BOOTLAB_CACHE)",
            )
