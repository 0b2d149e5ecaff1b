"""A published table: where it stands, what measures it, and whether it is still what was measured."""

import hashlib
import json
import re
import shlex
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, model_validator

ROOT: Final = Path(__file__).parents[2]
RECORD: Final = ROOT / "docs" / "published.json"
WINDOW: Final = 120
_DIGITS: Final = 16
_TOLD: Final = 12
"""So many commands stand above a table; of more the one that runs them."""
_GLUE: Final = "\N{NO-BREAK SPACE}"
_STRING_OR_COMMENT: Final = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|/\*.*?\*/|//[^\n]*', re.S)


class Published(BaseModel):
    """A table that `scripts/publish` writes: what one command prints, or figures of the boots of several."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    document: str
    inputs: dict[str, str]
    """Glob of files of the tree that decide its figures -> their hash when it was measured; empty before that."""
    text_sha256: str = ""
    """Of what stands between the two comments."""
    command: list[str] = Field(default=[], exclude_if=lambda words: not words)
    """The words after `bootlab`."""
    rows: dict[str, str] = Field(default={}, exclude_if=lambda rows: not rows)
    """Of a table of several runs: the name of each row -> the command of its run, after `bootlab`.

    Of a trial ` -> STEP` follows: the row is of the boots of that step, by their labels in the run (`alone-NAME`);
    of a profile it is of the phase or timing of that name, or of the program of that path.
    """
    columns: dict[str, str] = Field(default={}, exclude_if=lambda columns: not columns)
    """Its columns: title -> figure, by the words of scripts/publishing/boots_table.py."""
    turned: bool = Field(default=False, exclude_if=lambda turned: not turned)
    """Whether such a table has a column for each run, and a row for each figure."""
    builds: list[list[str]] = Field(default=[], exclude_if=lambda builds: not builds)
    """The words after `bootlab` of what makes the images that the others boot; such commands leave no run.

    Words that begin with a path are those of a script of the tree.
    """
    before: list[list[str]] = []
    """Those of the commands before it, whose runs come first on record."""
    printer: list[str] = []
    """The script that prints the table of all these runs, with its words; of the last one its report if empty.

    Without a command and rows it makes its runs itself.
    """
    tables: int | None = None
    """How many of the run's tables stand there, from its first; all of them if not given."""
    techniques: str = Field(default="", exclude_if=lambda names: not names)
    """Names of those there were, of a table whose command looks at all of them."""

    @model_validator(mode="after")
    def _expect_one_source(self) -> "Published":
        alone = bool(self.printer) and not self.before
        if (self.command and self.rows) or not (self.command or self.rows or alone):
            raise ValueError("a table is of one command, of rows and columns, or of a script of its own")
        if bool(self.rows) != bool(self.columns):
            raise ValueError("rows go with columns, and columns with rows")
        return self


def read_published() -> dict[str, Published]:
    """Return name -> table, as the record has them."""
    document = json.loads(RECORD.read_text(encoding="utf-8"))
    return {name: Published.model_validate(one) for name, one in document.items()}


def write_published(tables: Mapping[str, Published]) -> None:
    """Write the record anew."""
    document = {name: tables[name].model_dump(mode="json") for name in sorted(tables)}
    RECORD.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def inputs_now(table: Published, root: Path = ROOT) -> dict[str, str]:
    """Return glob -> hash of what decides the table's figures, as it lies in the tree now."""
    return {pattern: _hash_below(root, pattern) for pattern in table.inputs}


def _hash_below(root: Path, pattern: str) -> str:
    found = {str(path.relative_to(root)): path for path in root.glob(pattern) if path.is_file()}
    lines = (f"{name} {content_hash(name, found[name].read_bytes())}\n" for name in sorted(found))
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:_DIGITS]


def content_hash(name: str, content: bytes) -> str:
    """Return the hash of a file's content: of TOML and C what they say, since comments decide no figure."""
    if name.endswith(".toml"):
        content = json.dumps(tomllib.loads(content.decode()), default=str).encode()
    elif name.endswith((".c", ".h")):
        code = _STRING_OR_COMMENT.sub(lambda found: found[0] if found[0][0] in "\"'" else " ", content.decode())
        content = " ".join(code.split()).encode()
    return hashlib.sha256(content).hexdigest()


def command_line(name: str, table: Published) -> str:
    """Return the commands that measure a table, as the document says them above the table."""
    # A script that looks at runs is told where they are.
    where = " --runs DIR" if table.printer and commands(table) else ""
    words = [shlex.join(build_words(one, "bootlab")) for one in table.builds]
    words += [f"bootlab {shlex.join(one)}{where}" for one in commands(table)]
    words += [f"{shlex.join(table.printer)}{where}"] * bool(table.printer)
    if len(words) > _TOLD:
        return f"`scripts/publish {name}`, which runs {len(words)} commands; docs/published.json has them:"
    if len(words) == 1 and len(words[0]) + len("``:") <= WINDOW:
        return f"`{words[0]}`:"
    return "\n".join(_folded(one) for one in words)


def commands(table: Published) -> list[list[str]]:
    """Return the words of each command after `bootlab`, in the order of their runs."""
    if table.rows:
        return [list(words) for words in dict.fromkeys(tuple(words_and_step(row)[0]) for row in table.rows.values())]
    return [*table.before, table.command] if table.command else []


def build_words(build: Sequence[str], bootlab: str) -> list[str]:
    """Return the whole command of what makes an image: that of a script as it is, else one of `bootlab`."""
    return [*build] if "/" in build[0] else [bootlab, *build]


def words_and_step(row: str) -> tuple[list[str], str]:
    """Return the command of a row, and the step of the trial whose boots it is of; empty where it is of all."""
    command, _, step = row.partition(" -> ")
    return shlex.split(command), step


def run_folder(kept: Path, commands: Sequence[Sequence[str]]) -> Path:
    """Return where the runs of the commands of one table are kept, in a folder that has those of several."""
    said = "; ".join(shlex.join(words) for words in commands)
    return kept / hashlib.sha256(said.encode()).hexdigest()[:_DIGITS]


def _folded(command: str) -> str:
    # A shell takes a line's end inside quotes for a part of the word.
    command = " ".join(shlex.quote(word).replace(" ", _GLUE) for word in shlex.split(command))
    lines = textwrap.wrap(
        # An option keeps its value.
        re.sub(r"(?<= )(-[-a-z]+) (?=[^- ])", rf"\1{_GLUE}", command),
        WINDOW - len(" \\"),
        initial_indent=" " * 4,
        subsequent_indent=" " * 8,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return " \\\n".join(lines).replace(_GLUE, " ")


def text_of(name: str, document: str) -> str | None:
    """Return what stands between the two comments of a table; None where they are missing or stand twice."""
    found = re.findall(rf"<!-- measured: {re.escape(name)} -->\n(.*?)<!-- end: {re.escape(name)} -->", document, re.S)
    return found[0] if len(found) == 1 else None


def changed_inputs(table: Published, root: Path = ROOT) -> list[str]:
    """Return the globs whose files decide a table's figures and are not what they were when it was measured."""
    now = inputs_now(table, root)
    return [pattern for pattern in sorted(now) if now[pattern] != table.inputs[pattern]]


def with_text(name: str, document: str, text: str) -> str:
    """Return a document with `text` between the two comments of a table. Raises ValueError where they are missing."""
    if text_of(name, document) is None:
        raise ValueError(
            f"{name}: the document has no <!-- measured: {name} --> ... <!-- end: {name} -->, or has it twice"
        )
    before, rest = document.split(f"<!-- measured: {name} -->\n", 1)
    _, after = rest.split(f"<!-- end: {name} -->", 1)
    return f"{before}<!-- measured: {name} -->\n{text}<!-- end: {name} -->{after}"


def first_tables(said: str, tables: int | None) -> str:
    """Return what a run says in Markdown with its first `tables` tables alone, or as it is where that is None.

    The line that announces a table, which ends in a colon, goes with it.
    """
    blocks = said.strip().split("\n\n")
    left = [index for index, block in enumerate(blocks) if block.startswith("|")][tables:] if tables is not None else []
    left += [index - 1 for index in left if index and blocks[index - 1].endswith(":")]
    return "\n\n".join(block for index, block in enumerate(blocks) if index not in left) + "\n"


def text_hash(text: str) -> str:
    """Return the hash that the record has of a table's text."""
    return hashlib.sha256(text.encode()).hexdigest()


def find_faults(tables: Mapping[str, Published], root: Path = ROOT) -> Iterator[str]:
    """Yield what is wrong with the published tables: edited by hand, older than their inputs, or without a record."""
    for name, table in tables.items():
        if not table.inputs:
            yield f"{name}: docs/published.json: no file decides its figures: then nothing says when it is older"
        text = text_of(name, (root / table.document).read_text(encoding="utf-8"))
        if text is None:
            yield f"{name}: {table.document} has no such table between its two comments"
        elif text_hash(text) != table.text_sha256:
            yield f"{name}: {table.document}: the table is not what was measured: scripts/publish {name}"
        if changed := changed_inputs(table, root):
            yield f"{name}: {table.document}: older than {', '.join(changed)}: scripts/publish {name}"
    for path in sorted({root / "README.md", *(root / "docs").rglob("*.md")}):
        for name in re.findall(r"<!-- measured: (.*?) -->", path.read_text(encoding="utf-8")):
            if name not in tables or root / tables[name].document != path:
                yield f"{name}: {path.relative_to(root)}: docs/published.json does not know this table"
