"""What runs on a worker for a kernel: what it compiles with, the source that it takes, the build, and its way back."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Final

import zstandard
from distributed import Worker, get_worker

from bootlab.build.cache import Cache, file_sha256
from bootlab.build.kernel.build import compile_kernel, compile_tools
from bootlab.build.kernel.order import KernelOrder
from bootlab.build.packed_folder import pack_folder, unpack_folder
from bootlab.build.source.make import BuildFailed, ObjectFolder
from bootlab.build.source.origin import SourceTree
from bootlab.build.source.toolchain import require_toolchain, require_tools
from bootlab.build.workshop import Workshop
from bootlab.cluster.order import Compiled, CompileFailed, Input, KernelAnswer, Lacking, Unfit, WorkerFacts
from bootlab.cluster.worker import describe_worker, is_unwanted, refusal, store_of
from bootlab.errors import BootlabError, Interrupted

_SOURCE: Final = "kernel-source"
_KERNEL: Final = "kernel"
_PACKED: Final = "cluster-kernel"
_TOLD_EVERY: Final = 250


async def look_for_compiler(order: KernelOrder) -> WorkerFacts:
    """Return what this worker is, and what it would compile this kernel with."""

    def tools() -> dict[str, str]:
        toolchain = require_toolchain(order.arch, rust=order.rust)
        require_tools(toolchain, order.options)
        return compile_tools(toolchain)

    return await asyncio.to_thread(describe_worker, tools)


async def has_source(source: str) -> bool:
    """Return whether this worker has a source of kernels, unpacked."""
    return await asyncio.to_thread(lambda: Cache.default().find(_SOURCE, source) is not None)


async def unpack_source(source: str, packed: Input, dask_worker: Worker) -> bool | str:
    """Keep a source that was sent; returns False where it is there no more, or in words why it cannot be kept."""

    def unpack(out: Path) -> None:
        unpack_folder(store_of(dask_worker).path(packed.sha256), out)

    def keep() -> bool:
        if store_of(dask_worker).lacking([packed]):
            return False
        Cache.default().make(_SOURCE, source, unpack)
        return True

    try:
        return await asyncio.to_thread(keep)
    except (BootlabError, OSError) as error:
        return str(error)


def run_compile(order: KernelOrder, initramfs: Input | None, task: str) -> KernelAnswer:
    """Compile a kernel, as ordered, into this worker's cache. `task`: its key, and the topic of what is told."""
    worker = get_worker()

    def tell(line: str) -> None:
        with suppress(OSError):
            worker.log_event(task, {"worker": worker.address, "line": line})

    def count(files: int, last: str) -> None:
        if is_unwanted(worker, task):
            raise Interrupted("interrupted")
        if files % _TOLD_EVERY == 0:
            tell(f"compiled {files} files")

    try:
        cache, store = Cache.default(), store_of(worker)
        if cache.find(_KERNEL, order.key) is not None:
            return Compiled(worker.address, now=False)
        tree = cache.find(_SOURCE, order.source)
        if tree is None or (initramfs is not None and store.lacking([initramfs])):
            return Lacking(worker.address, () if initramfs is None else (initramfs.sha256,))
        toolchain = require_toolchain(order.arch, rust=order.rust)
        # Looked at once more: a package may have been upgraded under a worker that goes on.
        if compile_tools(toolchain) != order.tools:
            return Unfit(worker.address, "its compiler is not that which the kernel was configured for")
        source = SourceTree(tree, order.source, order.version)
        log = ObjectFolder(cache, source, toolchain, order.objects).log
        shop = Workshop(cache, tell=tell, progress=count)
        try:
            compile_kernel(shop, order, source, None if initramfs is None else store.path(initramfs.sha256))
        except BuildFailed as error:
            packed = zstandard.compress(log.read_bytes())
            return CompileFailed(worker.address, error.message, error.hint, str(log), packed)
        return Compiled(worker.address, now=True)
    except Interrupted:
        raise
    except (BootlabError, OSError) as error:
        return refusal(worker, error)


async def pack_kernel(key: str) -> tuple[str, int] | str:
    """Return hash and size of a kernel that this worker has compiled, as one file; or why it cannot be packed."""
    cache = Cache.default()

    def pack() -> tuple[str, int]:
        packed = cache.make(_PACKED, key, lambda out: pack_folder(cache.path(_KERNEL, key), out))
        return file_sha256(packed), packed.stat().st_size

    try:
        return await asyncio.to_thread(pack)
    except (BootlabError, OSError) as error:
        return str(error)


async def give(key: str, offset: int, size: int) -> bytes:
    """Return a piece of a kernel that was packed. Raises OSError."""

    def read() -> bytes:
        with Cache.default().path(_PACKED, key).open("rb") as file:
            file.seek(offset)
            return file.read(size)

    return await asyncio.to_thread(read)
