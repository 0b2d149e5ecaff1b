"""What every target promises: it prepares a system, gives the machine of each boot, and says what it cannot do.

A target is a place where systems boot: an emulator, a board on a serial line, boots that are on record. All that is
special about it is its own; whoever boots asks these promises and never which target it is (`registry` knows that).

    target_of(system).prepare(...)      -> Prepared: files, hashes, how the console is to be read
    prepared.open(directory, argv)      -> OpenedMachine: switched off, with a Session
    session.power_on(), events(), stop()

A session speaks in two kinds of event, both stamped with the host's CLOCK_MONOTONIC in ns, taken before any decoding.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Protocol, Self

from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.profile.asked.request import ProfileRequest
from bootlab.snapshot.asked import Beginning, KeepRequest, Restored
from bootlab.snapshot.refusals import MemoryForm
from bootlab.system import BootFiles, System
from bootlab.targets.boot_key import boot_key
from bootlab.targets.launch import Launch
from bootlab.targets.shell import Ask, ShellQuestions, Telling

TRACE: Final = "trace.txt"
"""What an exact machine recorded, in a boot's directory (plugin/trace_format.h)."""
REST: Final = "trace-from-mark.txt"
"""The same while one runs that goes on from another boot's mark; `TRACE` then has that one's beginning, too."""
UNFINISHED: Final = ".unfinished-"
"""In the name of a boot's directory: it did not end, or counts no more, and was moved aside."""
WARM_UP: Final = "warm-up"
"""How the label of a boot ends that found the host's caches cold: it is on record and does not count."""
NO_FILES: Final = BootFiles(kernel=Path(os.devnull))
"""Of a system that brings no file with it; a path is there for those who never ask."""


class EndReason(StrEnum):
    """Why a machine stopped."""

    GUEST_SHUTDOWN = "guest shutdown"
    GUEST_RESET = "guest reset"
    GUEST_PANIC = "guest panic"
    STOPPED = "stopped"
    """The host asked for it, or the plugin's stop mark was reached."""
    DIED = "died"
    """The machine ended by itself: a signal, a crash, an error exit."""


@dataclass(frozen=True, slots=True)
class ConsoleBytes:
    """Bytes the machine wrote to its console, in one read."""

    t_ns: int
    data: bytes


@dataclass(frozen=True, slots=True)
class MarkReached:
    """A mark that the machine's console does not say: what it was asked from outside, it has answered.

    `t_ns`: when, where the target knows it; None: a trace has the time.
    """

    name: str
    t_ns: int | None = None


@dataclass(frozen=True, slots=True)
class StandsStill:
    """The machine has come to the mark at which it is to be kept, and waits."""

    t_ns: int


@dataclass(frozen=True, slots=True)
class Ended:
    """The machine is gone; the last event of a session. `detail` is a line for a reader, empty when all is well."""

    t_ns: int
    reason: EndReason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class LineStamps:
    """How far the stamps of a console may be off that came over a line.

    `byte_ns`: how long one byte takes, 0 where the line's rate is not known. `late_ns`: no stamp was later; None where
    nobody can know it. `power_ns`: how long the command took that gave the power; 0 where time 0 is a console line.
    """

    byte_ns: int
    late_ns: int | None
    power_ns: int


class Session(Protocol):
    """One machine from before power-on to its end. Use as an async context manager: leaving it ends the machine."""

    @property
    def byte_ns(self) -> int:
        """How long one byte takes on the console's line; 0 where it has none, or its rate is not known."""
        ...

    @property
    def doubts(self) -> tuple[str, ...]:
        """What may have spoilt this boot or its times, for the user to read."""
        ...

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a user should know of what was around the machine, once it has ended."""
        ...

    async def power_on(self) -> int:
        """Let the machine run; returns the host's monotonic time in ns at which it was let go. Raises BootFailed."""
        ...

    def events(self) -> AsyncIterator[ConsoleBytes | MarkReached | StandsStill | Ended]:
        """Yield what the machine does, in order; ends after `Ended`.

        Raises TimeoutError, once, where the target knows that nothing will come before `stop`: the deadline passes.
        """
        ...

    def withheld_s(self) -> float:
        """Return the seconds that the machine was ready to run and its host ran something else; 0.0 for a board."""
        ...

    async def stop(self) -> None:
        """End the machine in an orderly way; `Ended` follows in `events()`."""
        ...

    def stamps(self) -> LineStamps | None:
        """Return how far this console's stamps may be off; None where no line delays it."""
        ...


@dataclass(frozen=True, slots=True)
class OpenedMachine:
    """A machine that is not switched on yet. `tcp_port`: of this host, where its check listens.

    `keep` writes down a machine that stands still; None where it was not prepared for that. Raises StoreError.
    `hold` has it stand still where it is; None where it does so at its mark by itself. Raises BootFailed.
    `power_off` presses the power button of a machine that lives; None where it was not prepared for that. Raises
    BootFailed. `ask` asks the shell of a system that has booted; where its console is that shell, `send` types.
    `launch` says what came before power-on; None where no VMM was started for it, or its host's time counts nothing.
    `pid` gives the process that is this machine, None before there is one; None where no process of this host is it.
    """

    session: Session
    tcp_port: int | None = None
    keep: Callable[[], Awaitable[None]] | None = None
    hold: Callable[[], Awaitable[None]] | None = None
    power_off: Callable[[], Awaitable[None]] | None = None
    ask: Ask | None = None
    send: Callable[[bytes], None] | None = None
    launch: Callable[[], Launch] | None = None
    pid: Callable[[], int | None] | None = None


@dataclass(frozen=True, slots=True)
class ConsoleTraits:
    """How the console of a target is to be read."""

    zero: str | None = None
    """Time 0 is the first line with this pattern, instead of power-on."""
    marks: Mapping[str, str] = field(default_factory=dict)
    """Further marks, each with the pattern of its line."""
    is_line: bool = False
    """It comes over a line whose other end may have another rate, and nothing else is known of the machine."""
    is_asked: bool = False
    """It is no console: its lines are the answers of a machine that is asked from outside, and all that is known."""
    may_be_reset: bool = False
    """A watchdog may reset a machine that has given up, so that is not the end yet."""


class Names(Protocol):
    """What function is at an address of the kernel that boots."""

    def name_at(self, address: int) -> str | None:
        """Return the function's name, None where it is not known. `address` is a link address."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared(ABC):
    """A system that is ready to boot on its target, with any seed.

    `runs_on`: what executes its instructions, as the record says it: `tcg`, `kvm`, `board`, ...
    `symbols`: names of the kernel's functions, None where they are not known or nothing records addresses.
    `plugin_config`: what its trace looks for, in the plugin's words; None where nothing traces it.
    """

    system: System
    files: BootFiles
    hashes: dict[str, str]
    """sha256 of all that decides the boot beside the system itself: one per input that there is."""
    sizes: dict[str, int]
    """Bytes of kernel, initramfs, card, flash, rootfs and disks, of those there are."""
    runs_on: str
    symbols: Names | None = None
    plugin_config: str | None = None
    console: ConsoleTraits = ConsoleTraits()
    keeping: KeepRequest | None = None
    restored: Restored | None = None
    begins: Beginning | None = None
    """The boot that it shares its beginning with, and goes on from."""
    questions: ShellQuestions | None = None
    """What its shell is asked once it is ready and well."""

    def expect_keepable(self) -> None:
        """Raise InputError, which names every key, for a machine that cannot be kept in a snapshot."""
        raise InputError(
            f"clock.kind: a machine that runs on {self.runs_on} cannot be kept in a snapshot",
            hint='an emulated machine on the virtual clock can: clock.kind = "virtual"',
        )

    def expect_beginning(self, at: str) -> None:
        """Raise InputError, as `expect_keepable`, for a machine that cannot be kept at this mark to be gone on from."""
        self.expect_keepable()

    @property
    def memory_forms(self) -> tuple[MemoryForm, ...]:
        """Return how the memory of such a machine can be kept, the usual form first."""
        return (MemoryForm.FILE, MemoryForm.MAPPED_RAM)

    @property
    def kept_with(self) -> dict[str, str]:
        """Return what of this host a machine that is kept depends on, by name, beside the files in `hashes`."""
        return {}

    def kept_at(self, keeping: KeepRequest) -> Self:
        """Return the same boot, which stands still at a mark to be kept. Raises as `expect_keepable`."""
        self.expect_keepable()
        return replace(self, keeping=keeping)

    def from_snapshot(self, restored: Restored) -> Self:
        """Return the boot that goes on from a snapshot of this one. Raises as `expect_keepable`."""
        self.expect_keepable()
        return replace(self, restored=restored)

    def from_mark(self, beginning: Beginning) -> Self:
        """Return the same boot, which is not powered on: it goes on from where another stood that began alike.

        Its key, its trace and its record are those of the whole boot. Raises as `expect_beginning`.
        """
        self.expect_beginning(beginning.mark)
        return replace(self, begins=beginning)

    def asking(self, questions: ShellQuestions) -> Self:
        """Return the same boot, whose shell is asked at its end. Raises InputError where nobody can reach one."""
        raise InputError(f"target: a machine that runs on {self.runs_on} has no shell that bootlab knows")

    def tracing_vmm(self) -> Self:
        """Return the same boot, whose VMM is traced. Raises InputError where no VMM of this host boots it."""
        raise InputError(f"target: a machine that runs on {self.runs_on} has no VMM on this host")

    @property
    def remembers(self) -> bool:
        """Return whether this machine has lives: what it writes to its disk can be there when it boots again."""
        return False

    def living(self, folder: Path, over_ns: int) -> Self:
        """Return the same boot as a life: all that it writes is kept in `folder`, which is there and empty.

        At `over_ns` of the virtual clock it stands still for its power button. Raises InputError.
        """
        raise InputError(f"image.life: a machine that runs on {self.runs_on} has no lives: nothing it writes is kept")

    def after_life(self, folder: Path, identity: str) -> Self:
        """Return the boot that follows a life, which left what is in `folder`; `identity`: of all that decided it.

        Raises InputError as `living`.
        """
        return self.living(folder, 0)

    @property
    def left_at(self) -> str:
        """Return the guest's mark that a boot must come to which leaves something."""
        return ""

    def leaving(self, folder: Path, system: System) -> Self:
        """Return this boot as the one before a power-on of `system`, which leaves in `folder` what that finds.

        Raises InputError.
        """
        raise InputError(f"power_on: a machine that runs on {self.runs_on} finds what it finds")

    def finding(self, folder: Path, identity: str) -> Self:
        """Return the boot that finds what is in `folder`; `identity`: of all that decided it. Raises as `leaving`."""
        return self.leaving(folder, self.system)

    @abstractmethod
    def open(self, directory: Path, argv: list[str]) -> AbstractAsyncContextManager[OpenedMachine]:
        """Give the machine of one boot, and end it. `argv` gets the command that runs it, as soon as it is known.

        `directory` is the boot's: what the machine leaves is there when it has ended. An exact one leaves `TRACE`.
        Raises BootFailed when it does not start, InputError for a line that cannot be opened, MissingTool.
        """

    @property
    def traced(self) -> bool:
        """Return whether a trace says when each mark was and what the console sent, whatever the host did."""
        return self.plugin_config is not None

    @property
    def unseen(self) -> tuple[str, ...]:
        """Return what a profile of this boot will not tell, in words for a user."""
        return ()

    def host_facts(self) -> dict[str, Any]:
        """Return the facts about what runs it here that a measured time depends on, ready for JSON.

        `qemu`: the emulator's version, None where there is none; `kvm`: the state of the KVM device in words.
        """
        return {"qemu": None, "kvm": "not asked for"}

    @property
    def bound_here(self) -> str | None:
        """Return why it boots on this host only, in words; None where another host could boot it just as well."""
        return None

    @property
    def alone(self) -> str | None:
        """Return why only one such machine can be there at a time, key first; None where many can."""
        return None

    def numbered(self, number: int) -> Self:
        """Return it as one of several machines at a time, from 1. Raises InputError where it lacks what is its own."""
        return self

    @property
    def tools(self) -> dict[str, str]:
        """Return those of `hashes` that are of this host's own tools: another host has to have the same."""
        return {}

    @property
    def shared_parts(self) -> tuple[object, ...]:
        """Return what is large here and the same for many boots: another host is told each of them once."""
        return () if self.symbols is None else (self.symbols,)

    def adopted(self, files: BootFiles) -> Self:
        """Return the same boot on this host, to which it came from another one: its `files`, run by this host's tools.

        Raises MissingTool, InputError where this host cannot boot it.
        """
        return replace(self, files=files)

    @property
    def key(self) -> str:
        """Return the sha256 of everything that decides the boot: files count by content, never by path."""
        return boot_key(self.system, self.hashes, self.plugin_config)

    @property
    def load_ns(self) -> int:
        """Return the time to load kernel and initramfs by the system's storage model; 0 without one."""
        storage = self.system.storage
        loaded = [size for name, size in self.sizes.items() if name in ("kernel", "initramfs")]
        return storage.load_ns(loaded) if storage is not None else 0

    def with_seed(self, seed: int) -> Self:
        """Return the same boot with another seed; nothing needs to be made again."""
        return replace(self, system=self.system.with_seed(seed))


@dataclass(frozen=True, slots=True)
class BootRequest:
    """What is asked of boots besides the system.

    `watch`: symbols, of the kernel or of SPL (`SPL:FUNCTION`), whose first execution becomes the mark `watch:SYMBOL`.
    `profile`: where the boots are to be profiled. `keeps`: the machine is to be kept in a snapshot.
    """

    watch: tuple[str, ...] = ()
    profile: ProfileRequest | None = None
    keeps: bool = False


class Target(Protocol):
    """A place where systems boot. It holds no state: what one boot needs is in `Prepared`."""

    @property
    def fixed_machine(self) -> str | None:
        """Why its machine has the CPUs and the memory it has, in words; None where a system chooses them."""
        ...

    def prepare(self, shop: Workshop, system: System, asked: BootRequest) -> Prepared:
        """Make or find all that `system` boots from, once for every seed.

        Raises InputError for what cannot be right or cannot be had on this target (a profile, say), MissingTool.
        """
        ...

    def tools(self, system: System) -> dict[str, str]:
        """Return the sha256 of each of this host's own tools that a boot of `system` runs on; none for a real board.

        Raises MissingTool.
        """
        ...

    def telling(self, system: System) -> Telling | None:
        """Return how a real machine tells what its boot did; None where instructions are counted, or nobody asks."""
        ...

    def lacks(self, before: System, after: System) -> str | None:
        """Return why the machine that boots `before` cannot boot `after` instead; None where it can."""
        ...

    def doubts(self, system: System) -> list[str]:
        """Return why boots of this system may not repeat exactly although its clock is the virtual one."""
        ...
