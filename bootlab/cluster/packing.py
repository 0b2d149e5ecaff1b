"""A prepared system as bytes for another host: its files and large parts by hash, everything else by value.

What many boots share (a kernel's symbols are megabytes) becomes a file like a kernel or a disk: a worker gets each of
them once. What is packed here was made by this very bootlab, and a worker's sources are compared before it unpacks any.
"""

import hashlib
import io
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from bootlab.build.cache import Cache, file_sha256
from bootlab.cluster.order import Input, Order
from bootlab.errors import InputError
from bootlab.system import BootFiles
from bootlab.targets.target import Prepared

_PART: Final = "cluster-part"
_CARRIED: Final = ("kernel", "initramfs", "card", "flash", "firmware", "kernel_config")
"""Of a boot's files those that a machine loads, or that tell why it did not come up; disks besides."""
_ANY_SEED: Final = 1


class Packer:
    """Packs boots for other hosts. What it found of a file or a part holds for as long as it lives."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._files: dict[tuple[str, int, int], str] = {}
        # The object itself is kept, or its id could become another one's.
        self._parts: dict[int, tuple[object, Input]] = {}

    def pack(self, prepared: Prepared) -> Order:
        """Return the order of this boot. Raises InputError for a file that is gone, StoreError for a full cache."""
        files = prepared.files
        carried = {name: path for name in _CARRIED if (path := getattr(files, name)) is not None and path.is_file()}
        inputs = [self._file(path) for path in (*carried.values(), *files.disks)]
        _expect_unchanged(prepared, carried, inputs)
        parts = {id(part): self._part(part) for part in prepared.shared_parts}
        lean = BootFiles(
            kernel=files.kernel,
            **{name: path for name, path in carried.items() if name != "kernel"},
            disks=files.disks,
            opensbi_at=files.opensbi_at,
            remarks=files.remarks,
            hashes=files.hashes,
        )
        out = io.BytesIO()
        pickler = _Pickler(out, parts)
        pickler.dump((replace(prepared.with_seed(_ANY_SEED), files=lean), {one.path: one.sha256 for one in inputs}))
        every = {one.sha256: one for one in (*inputs, *parts.values())}
        return Order(prepared.key, prepared.system.seed, out.getvalue(), tuple(every.values()))

    def _file(self, path: Path) -> Input:
        try:
            stat = path.stat()
            known = (str(path), stat.st_mtime_ns, stat.st_size)
            if known not in self._files:
                self._files[known] = file_sha256(path)
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}: a boot needs it", hint="was it removed meanwhile?") from error
        return Input(self._files[known], stat.st_size, path.absolute())

    def _part(self, part: object) -> Input:
        if id(part) not in self._parts:
            data = pickle.dumps(part, protocol=pickle.HIGHEST_PROTOCOL)
            sha256 = hashlib.sha256(data).hexdigest()

            def write(out: Path) -> None:
                out.write_bytes(data)

            self._parts[id(part)] = part, Input(sha256, len(data), self._cache.make(_PART, sha256, write))
        return self._parts[id(part)][1]


def _expect_unchanged(prepared: Prepared, carried: Mapping[str, Path], inputs: Sequence[Input]) -> None:
    # The boot's key says what was there when it was prepared.
    told = {path.absolute(): prepared.hashes.get(name) for name, path in carried.items()}
    on_record = set(prepared.hashes.values())
    for one in inputs:
        expected = told.get(one.path, None if one.sha256 in on_record else "another")
        if expected is not None and expected != one.sha256:
            raise InputError(
                f"{one.path}: has changed since this boot was prepared", hint="begin again, with the file as it is now"
            )


class _Pickler(pickle.Pickler):
    def __init__(self, out: io.BytesIO, parts: Mapping[int, Input]) -> None:
        super().__init__(out, protocol=pickle.HIGHEST_PROTOCOL)
        self._parts = parts

    def persistent_id(self, obj: Any) -> str | None:
        found = self._parts.get(id(obj))
        return None if found is None else found.sha256


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, find: Callable[[str], Path]) -> None:
        super().__init__(io.BytesIO(data))
        self._find = find

    def persistent_load(self, pid: Any) -> Any:
        return _read_part(self._find(pid))


def unpack(order: Order, find: Callable[[str], Path]) -> Prepared:
    """Return the boot that was ordered, ready on this host; `find` gives the file of an input's hash.

    Raises what `Prepared.adopted` raises.
    """
    prepared, names = _Unpickler(order.prepared, find).load()
    assert isinstance(prepared, Prepared)

    def here(path: Path) -> Path:
        sha256 = names.get(path.absolute())
        return path if sha256 is None else find(sha256)

    files = prepared.files
    moved: dict[str, Any] = {name: here(path) for name in _CARRIED if (path := getattr(files, name)) is not None}
    files = files.model_copy(update={**moved, "disks": tuple(map(here, files.disks))})
    return prepared.with_seed(order.seed).adopted(files)


@lru_cache(maxsize=16)
def _read_part(path: Path) -> Any:
    # Named by its hash, which was looked at before.
    return pickle.loads(path.read_bytes())
