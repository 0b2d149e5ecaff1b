"""Kernels as tasks: each is compiled by one worker, whoever asks for it, and comes back by its hash.

A task is named by what decides the kernel's bytes, so two clients that want one kernel wait for one build. Which worker
compiles it follows from its source and base: kernels that differ in a few options meet each other's objects there. What
one client wants at the same time is spread over hosts: each compiles one kernel, for make has all of its processors.
"""

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import zstandard
from distributed import Client
from distributed.scheduler import KilledWorker

from bootlab.build.cache import file_sha256
from bootlab.build.kernel.order import KernelOrder
from bootlab.build.packed_folder import pack_folder, unpack_folder
from bootlab.build.source.make import BuildFailed
from bootlab.build.workshop import Workshop
from bootlab.cluster.compiling import give, has_source, look_for_compiler, pack_kernel, run_compile, unpack_source
from bootlab.cluster.order import Compiled, CompileFailed, Input, KernelAnswer, Lacking, Refused, Unfit
from bootlab.cluster.roster import Need, NoneMay, Roster
from bootlab.cluster.sending import PIECE, Sending
from bootlab.errors import BootFailed, InputError, Interrupted

Ask = Callable[[str, Sequence[Any], list[str], Callable[[], bool]], Any]
_TRIES: Final = 6
_LOOKED_EVERY_S: Final = 1.0


class _Lost(Exception):
    """The worker that has the kernel is gone, or has it no more."""


class KernelTasks:
    """The promise of `build.workshop.CompilePlace`, kept by the workers of a cluster; from any thread.

    `ask`: task, call, workers and whether nobody waits any more -> the answer; None where those workers are gone.
    """

    def __init__(self, client: Client, roster: Roster, sending: Sending, ask: Ask) -> None:
        self._client = client
        self._roster = roster
        self._sending = sending
        self._ask = ask
        self._freed = threading.Condition()
        self._hosts = set[str]()
        """Those that compile for this client."""
        self._keys = set[str]()
        """The kernels that they compile."""

    def compile(self, shop: Workshop, order: KernelOrder, initramfs: Path | None) -> bool | None:
        """Compile a kernel on a worker, and bring it here."""
        archive = None
        if initramfs is not None and order.initramfs is not None:
            archive = Input(order.initramfs, initramfs.stat().st_size, initramfs.absolute())
        for attempt in range(_TRIES):
            try:
                with self._one_a_host(shop, order) as worker:
                    compiled = False if worker is None else self._compile_on(worker, shop, order, archive, attempt)
            except NoneMay as error:
                shop.tell_once(f"{error.message}; kernels are compiled on this host")
                return None
            if compiled is not None:
                return compiled
        raise BootFailed(
            f"{self._roster.address}: {order.what}: was begun on workers {_TRIES} times, and has come from none",
            hint="the lines above say what became of them; without --cluster it is compiled here",
        )

    @contextmanager
    def _one_a_host(self, shop: Workshop, order: KernelOrder) -> Iterator[str | None]:
        """Give the worker that is to compile a kernel, once its host has no other one to compile for this client.

        None where another thread has brought the kernel here meanwhile. Raises as `Roster.fit`.
        """
        while True:
            workers = self._roster.fit(_need_of(order), shop.cancelled)
            with self._freed:
                free = [one for one in workers if self._roster.host(one) not in self._hosts]
                if free and order.key not in self._keys:
                    if shop.cache.find("kernel", order.key) is not None:
                        worker = None
                        break
                    worker = _choose(order, free)
                    host = self._roster.host(worker)
                    self._hosts.add(host)
                    self._keys.add(order.key)
                    break
                self._freed.wait(_LOOKED_EVERY_S)
            if shop.cancelled():
                raise Interrupted("interrupted")
        if worker is None:
            yield None
            return
        try:
            yield worker
        finally:
            with self._freed:
                self._hosts.remove(host)
                self._keys.remove(order.key)
                self._freed.notify_all()

    def _compile_on(
        self, worker: str, shop: Workshop, order: KernelOrder, archive: Input | None, attempt: int
    ) -> bool | None:
        """Return whether a worker has compiled the kernel now, once it is here; None where it has to be begun again."""
        problem = self._provide(shop, order, archive, worker)
        if problem is not None:
            self._roster.leave_out(worker, problem)
            return None
        answer = self._answer(shop, order, archive, worker, attempt)
        if isinstance(answer, Compiled) and self._bring_here(shop, order, answer.worker):
            return answer.now
        if isinstance(answer, CompileFailed):
            raise self._failed(shop, order, answer)
        if isinstance(answer, Refused):
            raise InputError(answer.message, hint=answer.hint)
        if isinstance(answer, Unfit):
            self._roster.leave_out(answer.worker, answer.reason)
        elif isinstance(answer, Lacking):
            self._sending.forget(answer.worker, answer.sha256s)
        return None

    def _answer(
        self, shop: Workshop, order: KernelOrder, archive: Input | None, worker: str, attempt: int
    ) -> KernelAnswer | None:
        # An answer that somebody still holds is not that of another attempt.
        task = f"kernel-{_hash(order.key)}-{attempt}"
        with self._hearing(shop, task):
            try:
                answer: KernelAnswer | None = self._ask(task, (run_compile, order, archive), [worker], shop.cancelled)
            except KilledWorker:
                return None
        return answer

    @contextmanager
    def _hearing(self, shop: Workshop, task: str) -> Iterator[None]:
        def hear(event: tuple[float, dict[str, str]]) -> None:
            shop.tell(f"{self._roster.name(event[1]['worker'])}: {event[1]['line']}")

        self._client.subscribe_topic(task, hear)
        try:
            yield
        finally:
            if self._client.status == "running":
                self._client.unsubscribe_topic(task)

    def _provide(self, shop: Workshop, order: KernelOrder, archive: Input | None, worker: str) -> str | None:
        """Let a worker have what it compiles; returns why it cannot have it. One that is lost is not told of."""
        if self._sending.run(has_source, order.source, workers=[worker]).get(worker) is False:
            tree = shop.cache.path("kernel-source", order.source)
            packed = shop.cache.make("cluster-source", order.source, lambda out: pack_folder(tree, out))
            source = Input(file_sha256(packed), packed.stat().st_size, packed)
            shop.tell(f"{self._roster.name(worker)}: gets the source, {source.size / (1 << 20):.1f} MiB")
            if problems := self._sending.deliver([source], [worker], shop.cancelled):
                return problems[worker]
            said = self._sending.run(unpack_source, order.source, source, workers=[worker]).get(worker)
            if said is not True:
                # It is sent again, where the worker is still there.
                self._sending.forget(worker, [source.sha256])
            if isinstance(said, str):
                return said
        return None if archive is None else self._sending.deliver([archive], [worker], shop.cancelled).get(worker)

    def _bring_here(self, shop: Workshop, order: KernelOrder, worker: str) -> bool:
        """Put the kernel of a worker into the cache; returns False where the worker is lost."""
        if shop.cache.find("kernel", order.key) is not None:
            return True  # a cache that both share
        said = self._sending.run(pack_kernel, order.key, workers=[worker]).get(worker)
        if isinstance(said, str):
            self._roster.leave_out(worker, said)
        if not isinstance(said, tuple):
            return False
        sha256, size = said
        shop.tell(f"{self._roster.name(worker)}: its kernel comes here, {size / (1 << 20):.1f} MiB")

        def fetch(out: Path) -> None:
            packed = out.with_name("packed")
            with packed.open("wb") as file:
                for offset in range(0, size, PIECE):
                    piece = self._sending.run(give, order.key, offset, PIECE, workers=[worker]).get(worker)
                    if not isinstance(piece, bytes):
                        raise _Lost
                    file.write(piece)
            if file_sha256(packed) != sha256:
                raise _Lost
            unpack_folder(packed, out)

        try:
            shop.cache.make("kernel", order.key, fetch)
        except _Lost:
            return False
        return True

    def _failed(self, shop: Workshop, order: KernelOrder, answer: CompileFailed) -> BuildFailed:
        log = shop.cache.root / "cluster-log" / f"{_hash(order.key)}.log"
        shop.cache.write_text(log, zstandard.decompress(answer.log).decode(errors="replace"))
        message = answer.message.replace(answer.log_path, str(log))
        return BuildFailed(f"{message}\n  it was compiled on {self._roster.name(answer.worker)}", hint=answer.hint)


def _need_of(order: KernelOrder) -> Need:
    return Need(
        todo=f"compile {order.what}",
        tools=order.tools,
        key=(("compiles", _hash(order.config)), *sorted(order.tools.items())),
        look=look_for_compiler,
        words=(order,),
        left_out="compiles nothing",
        boots=False,
    )


def _choose(order: KernelOrder, workers: Sequence[str]) -> str:
    """Return the same worker for kernels that share objects, whoever asks, for as long as it is there."""
    return min(workers, key=lambda worker: _hash(f"{order.source} {order.arch} {order.objects} {worker}"))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
