"""What Markdown files promise: lines of a readable length, names and links that lead somewhere, one line a change."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import bootlab

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 120
# Made by `make golden`, a line a fact.
GENERATED = ROOT / "docs/techniques.md"
# What these two say of the tree has to be there.
ABOUT_THE_TREE = (ROOT / "docs/architecture.md", ROOT / "CONTRIBUTING.md")
FILES_OF_THE_TREE = {"c", "h", "json", "md", "py", "toml"}
FILES_OF_A_RUN = {"profile.bin"}
# Of other projects, which are cited.
TESTS_OF_OTHERS = {"test_boottime.py"}
# Whoever follows CONTRIBUTING.md's walks makes these (tests/test_walks.py): blocks with a path, and a new target's.
MADE_BY_WALKS = {
    "bootlab/targets/program/session.py",
    "cli/twice/",
    *re.findall(r"^```\w+ (\S+)$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE),
}


def documents() -> list[Path]:
    """Return the Markdown files that people write."""
    folders = [ROOT / name for name in ("docs", "examples", "guest", "patches", "plugin", "scripts", "tests")]
    nested = [path for folder in folders for path in folder.rglob("*.md")]
    return sorted(path for path in [*ROOT.glob("*.md"), *nested] if path != GENERATED)


def prose_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line number, line) of what is neither code nor a table: the lines that an editor may wrap."""
    fenced = False
    after_blank = True
    indent_of_item = 0
    code = False
    for number, line in enumerate(text.split("\n"), 1):
        indent = len(line) - len(line.lstrip())
        item = re.match(r" *([-*+]|\d+\.) +", line)
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif line and not fenced:
            code = indent >= indent_of_item + 4 and (code or after_blank)
            if not code:
                if item or indent < indent_of_item:
                    indent_of_item = item.end() if item else 0
                if not line.lstrip().startswith("|"):
                    yield number, line
        after_blank = not line


def test_every_example_begins_with_what_it_is() -> None:
    """Its name alone tells a stranger little: the first sentence of the file is a comment that does."""
    files = sorted((ROOT / "examples").rglob("*.toml"))
    assert len(files) > 30
    assert not [path for path in files if re.match(r"# [A-Z][^\n]{20}", path.read_text()) is None]


def test_prose_is_not_wider_than_a_window() -> None:
    """A line of prose fits 120 columns, so that a diff shows the sentence that changed."""
    long = [
        f"{path.relative_to(ROOT)}:{number}: {len(line)} columns"
        for path in documents()
        for number, line in prose_lines(path.read_text())
        if len(line) > WIDTH
    ]
    assert not long, "\n" + "\n".join(long)


def test_prose_is_told_from_code_and_tables() -> None:
    """Code, indented or fenced, and tables stay as they are; a list's continued lines are prose."""
    text = "a\n\n    code\n\n    code\n- b\n  c\n\n      code\n\n  d\n```\ncode\n```\n| table |\n1. e\n   f\n"
    assert [line.strip() for _, line in prose_lines(text)] == ["a", "- b", "c", "d", "1. e", "f"]


def names_of(text: str) -> list[str]:
    """Return the paths and dotted names between backticks: what a reader would look up in the tree.

    Files that a run leaves, such as `profile.bin`, are not among them.
    """
    words = [word.removesuffix("()") for span in re.findall(r"`([^`\n]+)`", text) for word in span.split()]
    looked_up = [word for word in words if word not in FILES_OF_A_RUN and not re.search(r"[<>=]|^[.-]|^/", word)]
    return [word for word in looked_up if "/" in word or re.fullmatch(r"[a-z_*]+(\.\w+)+", word)]


def leads_somewhere(name: str) -> bool:
    """Tell whether a name is a path of the tree or of the package, a file in it, or something to import from it."""
    if "/" in name:
        return any(list(folder.glob(name.rstrip("/"))) for folder in (ROOT, ROOT / "bootlab"))
    if name.split(".")[-1] in FILES_OF_THE_TREE:
        return (ROOT / name).is_file() or bool(list((ROOT / "bootlab").rglob(name)))
    found: object = bootlab
    dotted = "bootlab"
    for part in name.removeprefix("bootlab.").split("."):
        dotted = f"{dotted}.{part}"
        if not hasattr(found, part):
            try:
                importlib.import_module(dotted)
            except ModuleNotFoundError:
                return False
        found = getattr(found, part)
    return True


@pytest.mark.parametrize("document", ABOUT_THE_TREE, ids=lambda path: path.name)
def test_names_of_the_tree_lead_somewhere(document: Path) -> None:
    """A path or dotted name in the documents about the tree is there: what is renamed is renamed here, too."""
    names = [name for name in names_of(document.read_text()) if name not in MADE_BY_WALKS]
    assert len(names) > 5
    assert not [name for name in names if not leads_somewhere(name)]


def test_a_name_that_leads_nowhere_is_found() -> None:
    """Wrong folders, files, modules and functions are each told from right ones."""
    right = ["tests/data/", "cli/", "report/scripts/flame_*.js", "errors.py", "process", "system.read_system"]
    wrong = ["tests/date/", "clj/", "report/scripts/fire_*.js", "error.py", "proces", "system.read_systems"]
    assert [leads_somewhere(name) for name in right + wrong] == [True] * 6 + [False] * 6


def heading_anchors(text: str) -> set[str]:
    """Return what a link to a heading of a document is called: lower case, blanks as dashes, no punctuation."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_between_documents_lead_somewhere() -> None:
    """A link to a file of the tree, or to a heading in one, has something at its end."""
    broken = []
    for path in documents():
        for link in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
            if ":" in link:
                continue
            name, _, anchor = link.partition("#")
            there = path.parent / name if name else path
            if not there.exists() or (anchor and anchor not in heading_anchors(there.read_text())):
                broken.append(f"{path.relative_to(ROOT)}: {link}")
    assert not broken


def sources() -> list[Path]:
    """Return the files in which people write paths of the tree: documents, Python and C; tests make paths up."""
    suffixes = {".py", ".c", ".h"}
    folders = [ROOT / name for name in ("bootlab", "guest", "plugin")]
    return documents() + [path for folder in folders for path in folder.rglob("*") if path.suffix in suffixes]


def test_files_that_are_named_are_there() -> None:
    """A file of the package, of the tests or of the C folders that a text names has not moved away."""
    named = re.compile(r"\b(?<!/)(?:bootlab/[\w/]+\.py|tests/(?:\w+/)*test_\w+\.py|(?:guest|plugin)/[\w/]+\.[ch])\b")
    gone = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources()
        for name in named.findall(path.read_text())
        if not (ROOT / name).is_file() and name not in MADE_BY_WALKS
    }
    assert not gone


def test_tests_that_are_named_alone_are_there() -> None:
    """A test file that a text names without its folder has not been renamed."""
    tests = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    made_up = {Path(name).name for name in MADE_BY_WALKS} | TESTS_OF_OTHERS
    gone = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in [*sources(), *(ROOT / "examples").rglob("*.toml"), *(ROOT / "tests/boot").rglob("*.py")]
        for name in re.findall(r"(?<![\w/])test_\w+\.py", path.read_text())
        if name not in tests | made_up
    }
    assert not gone


def test_the_changelog_has_one_line_a_change() -> None:
    """CHANGELOG.md follows Keep a Changelog: versions, kinds of change, and entries of one line each."""
    lines = [line for line in (ROOT / "CHANGELOG.md").read_text().split("\n") if line]
    kinds = "Added|Changed|Deprecated|Removed|Fixed|Security"
    entry = re.compile(rf"## \[(Unreleased\]|[\d.]+\] - \d{{4}}-\d\d-\d\d)|### ({kinds})|- .*")
    head = next(index for index, line in enumerate(lines) if line.startswith("## "))
    assert not [line for line in lines[head:] if not entry.fullmatch(line) or len(line) > WIDTH]
