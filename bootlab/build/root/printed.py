"""What a guest's program has learned: a text whose first line has its length and CRC, as a file or printed as facts."""

import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bootlab.errors import InputError


@dataclass(frozen=True)
class Printed:
    """One kind of such texts."""

    word: str
    """The program's name behind `bootlab-`; the keys of its facts begin with it: `WORD.1`, ..., `WORD.end`."""
    name: str
    """What such a text is to people."""

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
            data = path.read_bytes()
        except OSError as error:
            raise InputError(f"{key}: {error.strerror}") from error
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
            raise InputError(
                f"{key}: the {self.name} is cut short or damaged",
                hint=f"make it anew: rootfs.{self.word}.record = true",
            )
        return data[: head.end()] + rest

    def sealed(self, rest: bytes) -> bytes:
        """Return a text with a first line that fits it."""
        return b"bootlab-%s 1 %d %d\n" % (self.word.encode(), len(rest), zlib.crc32(rest)) + rest

    def _of_console(self, data: bytes, key: str) -> bytes:
        pattern = rf"bootlab: fact {re.escape(self.facts)}(\S+) ?(.*?)\r?$"
        found = re.findall(pattern, data.decode(errors="surrogateescape"), re.MULTILINE)
        try:
            return self.of_facts({f"{self.facts}{name}": value for name, value in found}).encode(
                errors="surrogateescape"
            )
        except InputError as error:
            raise InputError(f"{key}: {error.message}", hint=error.hint) from error
