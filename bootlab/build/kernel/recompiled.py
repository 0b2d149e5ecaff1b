"""Compiles an object of a kernel again with other options, to see which of them change a function's code.

A boot shows that a function executes more than before, and never why: what its source and a thousand headers make of an
option only the compiler says. Nothing that is built changes: the compiler writes elsewhere.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from bootlab.build.kernel.objects import read_saved_command
from bootlab.build.source.config_text import parse_config
from bootlab.build.source.make import BuildFailed
from bootlab.errors import MissingTool
from bootlab.process import ProgramFailed, run

_OPTIONS: Final = "linux/kconfig.h"
"""What every compilation of the kernel includes first; the options are there behind it."""
_DEADLINE_S: Final = 120.0


FunctionBytes = Callable[[Mapping[str, str]], int | None]
"""Returns how long a function is with some options (option -> value, `n` is off) otherwise than they are; None where
the object does not compile so."""


class FunctionLengths:
    """How long functions of a kernel would be, of the objects in a folder, which nobody else may build in meanwhile.

    `make`: makes an object there that is missing, by its path. May raise BuildFailed.
    """

    def __init__(self, objects: Path, make: Callable[[str], None]) -> None:
        self._objects = objects
        self._make = make

    def of(self, name: str, function: str, config: Mapping[str, str]) -> FunctionBytes | None:
        """Return what tells how long a function of an object is with some options other than a configuration has.

        None for an object that cannot be made by itself.
        """
        try:
            command = self._command(name)
            made = parse_config((self._objects / ".config").read_text(encoding="utf-8"))
        except (OSError, BuildFailed):
            return None
        apart = {one: config.get(one, "n") for one in made.keys() | config.keys() if made.get(one) != config.get(one)}
        again = _ObjectAgain(self._objects, command)
        return lambda options: again.function_bytes(function, {**apart, **options})

    def _command(self, name: str) -> list[str]:
        try:
            return read_saved_command(self._objects, name)
        except OSError:
            self._make(name)
            return read_saved_command(self._objects, name)


class _ObjectAgain:
    def __init__(self, objects: Path, command: Sequence[str]) -> None:
        self._objects = objects
        self._command = command

    def function_bytes(self, function: str, options: Mapping[str, str]) -> int | None:
        # With all that the compiler has split off it.
        with tempfile.TemporaryDirectory(prefix="bootlab-") as scratch:
            header, out = Path(scratch, "options.h"), Path(scratch, "out.o")
            header.write_text("".join(_lines(options)), encoding="utf-8")
            try:
                run([*self._words(header), "-o", str(out)], deadline_s=_DEADLINE_S, cwd=self._objects)
                with out.open("rb") as file:
                    return _length(ELFFile(file), function)
            except (ProgramFailed, MissingTool, OSError, ELFError):
                return None

    def _words(self, header: Path) -> Iterator[str]:
        words = iter(self._command)
        for word in words:
            if word == "-o":
                next(words, None)
            elif word == "-include":
                included = next(words, "")
                yield from (word, included)
                if included.endswith(_OPTIONS):
                    yield from (word, str(header))
            elif not word.startswith(("-Wp,-MMD", "-Wp,-MD")):
                yield word


def _lines(options: Mapping[str, str]) -> Iterator[str]:
    for option, value in options.items():
        yield f"#undef CONFIG_{option}\n#undef CONFIG_{option}_MODULE\n"
        if value in ("y", "m"):
            yield f"#define CONFIG_{option}{'_MODULE' if value == 'm' else ''} 1\n"
        elif value != "n":
            yield f"#define CONFIG_{option} {value}\n"


def _length(elf: ELFFile, function: str) -> int:
    symbols = elf.get_section_by_name(".symtab")
    if not isinstance(symbols, SymbolTableSection):
        return 0
    return sum(
        one["st_size"]
        for one in symbols.iter_symbols()
        if one["st_info"]["type"] == "STT_FUNC" and one.name.split(".")[0] == function
    )
