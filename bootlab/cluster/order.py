"""What a client and a worker say to each other about one boot or kernel: orders, and each answer that there can be."""

import copyreg
from dataclasses import dataclass, field
from pathlib import Path


def make_path(text: str) -> Path:
    """Return the path that was sent as a text."""
    return Path(text)


# A pickled path of Python 3.13 names a module that an older Python, which another Debian has, does not know.
copyreg.pickle(type(Path()), lambda path: (make_path, (str(path),)))


@dataclass(frozen=True, slots=True)
class Input:
    """A file that a boot needs, by its content. `path`: where the client has it; a shared folder has it there, too."""

    sha256: str
    size: int
    path: Path


@dataclass(frozen=True, slots=True)
class Order:
    """One boot to run. `key`: by which its client found it decided; a worker that comes to another key refuses it."""

    key: str
    seed: int
    prepared: bytes
    """The prepared system without its large parts (`bootlab.cluster.packing`)."""
    inputs: tuple[Input, ...]


@dataclass(frozen=True, slots=True)
class BootDone:
    """The boot has run. `files`: what it left in its directory, each compressed by zstd; its record is among them."""

    worker: str
    files: dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Lacking:
    """The worker has not got these inputs, by their hashes; those it had and that were damaged are among them."""

    worker: str
    sha256s: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unfit:
    """The worker cannot run this boot as it was ordered, and another one may: its tools differ, its disk is full."""

    worker: str
    reason: str


@dataclass(frozen=True, slots=True)
class Refused:
    """No worker could run this boot: what is wrong is wrong everywhere."""

    worker: str
    message: str
    hint: str | None


@dataclass(frozen=True, slots=True)
class Compiled:
    """The kernel is in the worker's cache. `now`: it was not there before."""

    worker: str
    now: bool


@dataclass(frozen=True, slots=True)
class CompileFailed:
    """make ended with an error, as it would everywhere. `log`: all that it wrote, compressed by zstd."""

    worker: str
    message: str
    hint: str | None
    log_path: str
    """Where the worker has that log, as the message says it."""
    log: bytes


Answer = BootDone | Lacking | Unfit | Refused
KernelAnswer = Compiled | CompileFailed | Lacking | Unfit | Refused


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """What a worker says of itself before it gets a boot or a kernel. `sources`: sha256 of its bootlab."""

    host: str
    machine: str
    cpu_model: str | None
    cpu_flags: str
    """sha256 of the features of its processor, 12 digits."""
    sources: str
    tools: dict[str, str] = field(default_factory=dict)
    """What it would boot the system with (`Target.tools`), or compile with (`KernelOrder.tools`)."""
    problem: str | None = None
    """Why it can boot no such system, or compile no such kernel, at all."""
