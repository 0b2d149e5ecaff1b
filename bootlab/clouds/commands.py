"""One machine of any cloud, by four commands of the user's: create, address, console, delete.

Each finds BOOTLAB_NAME in its environment, the machine's name, which no other boot has.
"""

import uuid
from typing import Any, Final

from bootlab.clouds.rental import Rented
from bootlab.errors import BootFailed
from bootlab.process import Output, ProgramFailed, run
from bootlab.system import Command, CommandCloud, words_of

_TRIES: Final = 5


class CommandRental:
    """One machine for one boot."""

    def __init__(self, asked: CommandCloud) -> None:
        self._asked = asked
        self.name = f"bootlab-{uuid.uuid4().hex[:12]}"
        self._ordered = False

    @property
    def poll_s(self) -> float:
        return self._asked.poll_ms / 1000

    @property
    def guard(self) -> dict[str, Any]:
        delete, deadline_s = words_of(self._asked.delete), self._asked.command_deadline_s
        return {"kind": "commands", "name": self.name, "delete": delete, "deadline_s": deadline_s}

    def order(self) -> str:
        self._ordered = True
        self._run("create", self._asked.create)
        return self.name

    def look(self) -> Rented:
        try:
            said = self._run("address", self._asked.address).text.split()
        except BootFailed:
            # So long as it has none; the boot's own deadline ends that.
            return Rented(False)
        return Rented(bool(said), said[0] if said else None)

    def restart(self) -> None:
        raise BootFailed("target: a cloud of four commands has none that switches a machine off and on")

    def console(self) -> bytes:
        return b"" if self._asked.console is None else self._run("console", self._asked.console).stdout

    def end(self) -> None:
        if not self._ordered:
            return
        for left in reversed(range(_TRIES)):
            try:
                self._run("delete", self._asked.delete)
                return
            except BootFailed:
                if left == 0:
                    raise

    def _run(self, key: str, command: Command) -> Output:
        try:
            env = {"BOOTLAB_NAME": self.name}
            return run(words_of(command), deadline_s=self._asked.command_deadline_s, env=env)
        except ProgramFailed as error:
            raise BootFailed(f"target.{key}: {error.message}", hint="run the command by hand") from error
