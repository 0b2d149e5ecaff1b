"""What a guest's program has learned: a text whose first line has its length and CRC, as a file or printed as facts."""

import os
import re
import zlib
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bootlab.errors import InputError
from bootlab.plain_file import open_plain
from bootlab.system.part import brief

PLACES: Final = rb"m \d{1,16} \d{1,10}|d \d{1,5} \d{1,16} \d{1,10} (-1|\d{1,16})"
"""Lines that say where something lies: of the file system itself, of a file."""
ORIGIN: Final = rb"(root|packages) \d{1,19}|kernel \S{1,127}"
"""Lines that say what it was learned on."""
PATH: Final = rb"[^\x00-\x1f]{1,4095}"
_LARGEST: Final = 64 << 20
"""Of a file that has one on it; a guest takes 16 MiB."""
_SIGNLESS: Final = (1 << 63) - 1
"""What the guest keeps of an identity: no sign (root_identity in guest/readahead/machine.c)."""


@dataclass(frozen=True)
class Printed:
    """One kind of such texts."""

    word: str
    """The program's name behind `bootlab-`; the keys of its facts begin with it: `WORD.1`, ..., `WORD.end`."""
    name: str
    """What such a text is to people."""
    line: bytes
    """Pattern of its lines, but for the first: a text that somebody made may have others, though its CRC fits."""

    @property
    def facts(self) -> str:
        """What the keys of the facts begin with."""
        return f"{self.word}."

    @property
    def record(self) -> bytes:
        """What lies in a root in its place that is to learn and to print it."""
        return f"bootlab-{self.word} record\n".encode()

    def of_facts(self, facts: Mapping[str, str]) -> str:
        """Return the text that a boot printed. Raises InputError where it printed none, or not all of it."""
        count = facts.get(f"{self.facts}end", "")
        # A guest may print any count: none is taken that is more than the facts there are.
        number = int(count) if re.fullmatch(r"[0-9]{1,9}", count) else 0
        lines = [facts.get(f"{self.facts}{line}") for line in range(1, min(number, len(facts)) + 1)]
        if not lines or number > len(facts) or None in lines:
            raise InputError(
                f"the boot printed no {self.name}, or only a part",
                hint=f"rootfs.{self.word}.record = true, and a check that waits for the fact {self.facts}end",
            )
        text = "".join(f"{line}\n" for line in lines)
        self.expect_whole(text.encode(errors="surrogateescape"), f"the {self.name} that the boot printed")
        return text

    def read(self, path: Path, key: str) -> bytes:
        """Return the text of a file, or of a console that it was printed on. Raises InputError that names `key`."""
        key = f"{key}: {path}"
        try:
            with open_plain(path) as file:
                data = file.read(_LARGEST + 1)
        except OSError as error:
            raise InputError(f"{key}: {error.strerror}") from error
        if len(data) > _LARGEST:
            raise InputError(
                f"{key}: more than {_LARGEST >> 20} MiB, expected a {self.name} of bootlab-{self.word}, or the console "
                "of a boot that printed one"
            )
        if not data.startswith(f"bootlab-{self.word} ".encode()):
            data = self._of_console(data, key)
        return self.expect_whole(data, key)

    def expect_whole(self, data: bytes, key: str) -> bytes:
        """Return `data` without what lies behind it. Raises InputError that names `key` for what is cut or damaged."""
        head = re.match(rb"bootlab-%s 1 (\d{1,10}) (\d{1,10})\n" % self.word.encode(), data)
        if head is None:
            raise InputError(f"{key}: no {self.name} of bootlab-{self.word}, nor a console with one")
        rest = data[head.end() : head.end() + int(head[1])]
        if len(rest) != int(head[1]) or zlib.crc32(rest) != int(head[2]):
            raise InputError(f"{key}: the {self.name} is cut short or damaged", hint=self._anew)
        for number, line in enumerate(rest.removesuffix(b"\n").split(b"\n"), start=2):
            if re.fullmatch(self.line, line) is None:
                said = brief(line.decode(errors="replace"))
                raise InputError(f"{key}: line {number} is none that a {self.name} has: {said!r}", hint=self._anew)
        if re.search(rb"(?m)^root ", rest) is None or re.search(rb"(?m)^kernel ", rest) is None:
            raise InputError(f"{key}: the {self.name} does not say what it was learned on", hint=self._anew)
        return data[: head.end()] + rest

    @property
    def _anew(self) -> str:
        return f"make it anew: rootfs.{self.word}.record = true"

    def sealed(self, rest: bytes) -> bytes:
        """Return a text with a first line that fits it."""
        return b"bootlab-%s 1 %d %d\n" % (self.word.encode(), len(rest), zlib.crc32(rest)) + rest

    def _of_console(self, data: bytes, key: str) -> bytes:
        pattern = rf"bootlab: fact {re.escape(self.facts)}(\S+) ?(.*?)\r*$"
        found = re.findall(pattern, data.decode(errors="surrogateescape"), re.MULTILINE)
        try:
            return self.of_facts({f"{self.facts}{name}": value for name, value in found}).encode(
                errors="surrogateescape"
            )
        except InputError as error:
            raise InputError(f"{key}: {error.message}", hint=error.hint) from error


@dataclass(frozen=True)
class Learned:
    """A whole text of some kind, and the key of the system file that it is the value of."""

    of: Printed
    key: str
    data: bytes

    @property
    def files(self) -> tuple[str, ...]:
        """Return the paths in it, in the order of their numbers."""
        # Habits say ahead of a path how often each user's sessions opened it.
        users = len(re.findall(rb"(?m)^user ", self.data))
        return tuple(map(os.fsdecode, re.findall(rb"(?m)^f (?:\d+ ){%d}(.+)$" % users, self.data)))

    def expect_learned_on(self, root_id: int) -> None:
        """Raise InputError for a text that was not learned on the file system that statfs calls `root_id`.

        The guest would ignore it: what it says of places on the disk is true of another one.
        """
        found = re.search(rb"(?m)^root (\d+)$", self.data)
        if found is not None and int(found[1]) != root_id & _SIGNLESS:
            raise InputError(
                f"{self.key}: it was learned on a root that lies otherwise on its disk (rootfs.layout)",
                hint=f"learn it anew: boot this system once with rootfs.{self.of.word}.record = true",
            )

    def tell_if_of_another_kernel(self, release: str, tell: Callable[[str], None]) -> None:
        """Tell of a text that was learned under another kernel than `release`: the guest ignores it."""
        found = re.search(rb"(?m)^kernel (\S+)$", self.data)
        if found is not None and (of := os.fsdecode(found[1])) != release:
            tell(f"{self.key}: ignored by the guest: it is of the kernel {of}, and this is {release}; learn it anew")

    def expect_files_in(self, root: Container[str], tell: Callable[[str], None]) -> None:
        """Raise InputError where none of its files is in this root; tell where most are not."""
        gone = [path for path in self.files if path not in root]
        if gone and len(gone) == len(self.files):
            raise InputError(
                f"{self.key}: none of its {len(gone)} files is in this root, {brief(gone[0])} for one: it was learned "
                "on another one",
                hint=f"learn it anew: boot this system once with rootfs.{self.of.word}.record = true",
            )
        if 2 * len(gone) > len(self.files):
            tell(
                f"{self.key}: {len(gone)} of its {len(self.files)} files are not in this root, {brief(gone[0])} for one"
            )
