"""What a tutorial has its reader type: each block and each command line of docs/tutorials, read by this one parser.

Nothing is passed over: what is not one of these is refused, and so is a command between backticks in the prose that no
command of a block begins with.

    ```sh           commands; one that ends in `# an aside, TIME: REASON` takes hours, and no test runs it
    ```LANG NAME    the text of a file, which the reader writes
    ```text         what the commands of the block before print
    ```toml         an excerpt of a file, which nobody types

Only Python's own library is used: a machine that was made this minute has nothing else.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

TUTORIALS = Path(__file__).resolve().parents[2] / "docs" / "tutorials"

_FENCE = "```"
_OPENING = re.compile(r"```(\w+)(?: (\S+))?")
_ASIDE = re.compile(r"(.*\S)\s+# an aside, ([^:]*hours?[^:]*): (\S.*)")
_ALWAYS_PROGRAMS = frozenset({"bootlab", "make", "sudo"})


class Kind(Enum):
    """What a block is for."""

    COMMANDS = "sh"
    FILE = "a file's text"
    OUTPUT = "text"
    EXCERPT = "toml"


class TutorialError(ValueError):
    """A tutorial shows something that the tests would pass over; the message says where, and what to write instead."""


@dataclass(frozen=True)
class Command:
    """One line to type: `time` and `reason` are set where it is an aside, which takes so long for that reason."""

    line: str
    time: str = ""
    reason: str = ""

    @property
    def is_aside(self) -> bool:
        return bool(self.reason)


@dataclass(frozen=True)
class Block:
    """A fenced block; `path` is the name of a file, and `line` that of the document where the block begins."""

    kind: Kind
    text: str
    line: int
    path: str = ""

    @property
    def commands(self) -> list[Command]:
        """The lines to type, in their order; empty for a block of another kind."""
        if self.kind is not Kind.COMMANDS:
            return []
        lines = self.text.replace("\\\n", "").splitlines()
        return [_command(line) for line in lines if line.strip() and not line.startswith("#")]


@dataclass(frozen=True)
class Tutorial:
    """A document of docs/tutorials, block by block."""

    name: str
    blocks: tuple[Block, ...]

    @property
    def commands(self) -> list[Command]:
        return [command for block in self.blocks for command in block.commands]

    @property
    def asides(self) -> list[Command]:
        """What no test runs."""
        return [command for command in self.commands if command.is_aside]


def tutorials() -> list[Tutorial]:
    """Return every tutorial that there is, by name. Raises TutorialError."""
    return [read_tutorial(path) for path in sorted(TUTORIALS.glob("*.md"))]


def read_tutorial(path: Path) -> Tutorial:
    """Return a tutorial. Raises TutorialError where it shows something that is neither run nor told to be left out."""
    return parse_tutorial(path.stem, path.read_text(encoding="utf-8"))


def parse_tutorial(name: str, text: str) -> Tutorial:
    """Return a tutorial of this text; raises as `read_tutorial`."""
    try:
        blocks, prose = _split(text)
        tutorial = Tutorial(name, tuple(blocks))
        _expect_kinds_in_order(tutorial)
        programs = _ALWAYS_PROGRAMS | {command.line.split()[0] for command in tutorial.commands}
        _expect_no_command_in_output(tutorial, programs)
        _expect_prose_in_blocks(tutorial, prose, programs)
    except TutorialError as error:
        raise TutorialError(f"{name}.md: {error}") from None
    return tutorial


def _split(text: str) -> tuple[list[Block], str]:
    """Return the blocks and the prose between them."""
    blocks: list[Block] = []
    prose: list[str] = []
    lines = iter(enumerate(text.splitlines(), 1))
    for number, line in lines:
        if line.startswith(_FENCE):
            blocks.append(_block(line, number, lines))
            prose.append("")
            continue
        if line.startswith(("    ", "\t")):
            raise TutorialError(f"line {number}: an indented block says not what it is: fence it, as sh, toml or text")
        if "``" in line or line.lstrip().startswith(("~~~", "<")):
            raise TutorialError(f"line {number}: fence a block by ``` at the first column, and a name by one backtick")
        prose.append(line)
    return blocks, "\n".join(prose)


def _block(opening: str, number: int, lines: Iterator[tuple[int, str]]) -> Block:
    found = _OPENING.fullmatch(opening)
    if found is None:
        raise TutorialError(f"line {number}: {opening!r} says not what the block is: sh, toml, text, or LANGUAGE FILE")
    inside = []
    for _, line in lines:
        if line.startswith(_FENCE):
            break
        inside.append(f"{line}\n")
    else:
        raise TutorialError(f"line {number}: the block has no end")
    language, path = found.groups(default="")
    if path:
        return Block(Kind.FILE, "".join(inside), number, path)
    if language not in {kind.value for kind in Kind}:
        raise TutorialError(f"line {number}: a block of {language} is neither typed nor a file: name the file, or sh")
    return Block(Kind(language), "".join(inside), number)


def _command(line: str) -> Command:
    if "# an aside" not in line:
        return Command(line.strip())
    found = _ASIDE.fullmatch(line.strip())
    if found is None:
        raise TutorialError(f"{line.strip()!r}: an aside ends in `# an aside, TIME: REASON`, and its time is in hours")
    return Command(*found.groups())


def _expect_kinds_in_order(tutorial: Tutorial) -> None:
    previous = None
    for block in tutorial.blocks:
        if block.kind is Kind.COMMANDS and not block.commands:
            raise TutorialError(f"line {block.line}: the block has no command")
        runs = previous is not None and any(not command.is_aside for command in previous.commands)
        if block.kind is Kind.OUTPUT and not runs:
            raise TutorialError(f"line {block.line}: no command before it prints this: put it behind the one that does")
        if block.kind is Kind.OUTPUT and not block.text.strip():
            raise TutorialError(f"line {block.line}: the block promises nothing")
        previous = block


def _expect_no_command_in_output(tutorial: Tutorial, programs: frozenset[str]) -> None:
    for block in tutorial.blocks:
        for line in block.text.splitlines() if block.kind is Kind.OUTPUT else ():
            words = line.removeprefix("$").split()
            if words and words[0] in programs:
                raise TutorialError(f"line {block.line}: {line.strip()!r} is a command: it belongs into a block of sh")


def _expect_prose_in_blocks(tutorial: Tutorial, prose: str, programs: frozenset[str]) -> None:
    # The beginning of a command names it, as `bootlab boot` does.
    known = [f"{command.line} " for command in tutorial.commands]
    for span in re.findall(r"`([^`]+)`", prose):
        words = span.split()
        line = " ".join(words)
        if len(words) > 1 and words[0] in programs and not any(one.startswith(f"{line} ") for one in known):
            raise TutorialError(
                f"`{line}` is a command that no block has: put it into one, as an aside where it takes hours"
            )
