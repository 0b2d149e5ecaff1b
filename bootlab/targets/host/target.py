"""A machine on a network as a target: it boots what it has, and all that is known of it is what it answers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.system import HostMachine, System, words_of
from bootlab.targets.host.session import HostSession
from bootlab.targets.shell import ShellQuestions, Telling, ask_by_command
from bootlab.targets.target import NO_FILES, BootRequest, ConsoleTraits, OpenedMachine, Prepared

ASKED: Final = ConsoleTraits(is_asked=True, may_be_reset=True)
"""How the lines of a machine that is asked from outside are to be read."""
BOOTS_WHAT_IT_HAS: Final = "nothing is delivered to a machine that is only asked from outside: it boots what it has"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPrepared(Prepared):
    """A machine that is ready to be switched on."""

    machine: HostMachine

    @property
    def alone(self) -> str | None:
        return "target: it is one machine"

    @property
    def bound_here(self) -> str | None:
        return "target: the machine is asked from this host"

    @asynccontextmanager
    async def open(self, directory: Path, argv: list[str]) -> AsyncIterator[OpenedMachine]:
        argv += [] if self.machine.power_on is None else words_of(self.machine.power_on)
        async with HostSession(self.machine) as session:
            yield OpenedMachine(session, ask=None if self.machine.shell is None else ask_by_command)

    def asking(self, questions: ShellQuestions) -> Self:
        return replace(self, questions=questions)


class HostTarget:
    """A machine on a network, of which nothing is known but its answers."""

    fixed_machine = "the vCPUs and memory of a real machine are what they are"

    def prepare(self, shop: Workshop, system: System, asked: BootRequest) -> HostPrepared:
        """Return the machine. Raises InputError for a profile: nobody sees its instructions."""
        machine = system.target
        assert isinstance(machine, HostMachine)
        refuse_profile(asked)
        return HostPrepared(
            system=system, files=NO_FILES, hashes={}, sizes={}, runs_on="host", console=ASKED, machine=machine
        )

    def tools(self, system: System) -> dict[str, str]:
        """Return nothing: what boots is the machine."""
        return {}

    def telling(self, system: System) -> Telling:
        """Return its shell; its kernel boots with the words that it has."""
        machine = system.target
        assert isinstance(machine, HostMachine)
        return Telling(machine.shell, delivers=False)

    def lacks(self, before: System, after: System) -> str | None:
        """Return why the machine cannot become another one."""
        return None if before == after else BOOTS_WHAT_IT_HAS

    def doubts(self, system: System) -> list[str]:
        """Return nothing: a machine has no virtual clock."""
        return []


def refuse_profile(asked: BootRequest) -> None:
    """Raise InputError where boots are to be profiled that are only asked from outside."""
    if asked.profile is not None:
        raise InputError(
            "target: a profile counts instructions, and those of a machine that is only asked cannot be seen",
            hint="bootlab import reads what its own kernel and tools recorded of a boot (docs/importing.md)",
        )
