"""The tree is the architecture: who may import whom, and what may be called what.

Reads source with `ast` only, so it takes a second and needs nothing installed. A failure prints path:line and the rule.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "bootlab"

# A part imports only parts of a lower rank: never its own rank, never up. Inside one part, files may import each other.
RANKS = (
    ("errors",),
    ("process", "symbols", "system", "timeline"),
    ("importers", "targets", "profile", "build"),
    ("techniques", "measure"),
    ("experiments",),
    ("report",),
    ("cli",),
    ("__main__",),
)
RANK = {part: rank for rank, parts in enumerate(RANKS) for part in parts}
# Names that say nothing: such a file becomes the place where everything lands.
BANNED = {"util", "utils", "helper", "helpers", "common", "misc", "lib", "core", "base", "manager", "stuff"}
# Only the command line speaks to the user or ends the process.
SPEAKERS = {"cli", "__main__"}


def part_of(path: Path) -> str:
    """Return the part a file of the package belongs to; "__init__" for the package itself."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield (line, part) for each of our parts that a module imports; the part is "." for a relative import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            if node.level:
                yield node.lineno, "."
            elif node.module == "bootlab":
                yield from ((node.lineno, alias.name) for alias in node.names)
            elif node.module and node.module.startswith("bootlab."):
                yield node.lineno, node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("bootlab."):
                    yield node.lineno, alias.name.split(".")[1]


def speech(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield (line, what) for each print, exit or look at the command line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("print", "input", "exit", "quit", "SystemExit"):
                yield node.lineno, node.func.id
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name = f"{node.value.id}.{node.attr}"
            if name in ("sys.exit", "sys.argv", "sys.stdout", "sys.stderr", "os._exit"):
                yield node.lineno, name


def import_problems(part: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield (line, rule) for each import that breaks the direction."""
    for line, other in imports(tree):
        if other == ".":
            yield line, "relative import; write bootlab.…"
        elif part in RANK and other in RANK and other != part and RANK[other] >= RANK[part]:
            yield line, f"{part} (rank {RANK[part]}) imports {other} (rank {RANK[other]})"


def problems(part: str, path: Path, source: str) -> Iterator[tuple[int, str]]:
    """Yield (line, rule) for every rule that a file of the package breaks."""
    tree = ast.parse(source)
    if part not in RANK and part != "__init__":
        yield 1, f"part {part!r} has no rank; give it one in RANKS and in docs/architecture.md"
    for word in path.stem.split("_"):
        if word in BANNED:
            yield 1, f"{word!r} in a file name says nothing; name the file after what it does"
    if source.strip() and ast.get_docstring(tree) is None:
        yield 1, "no module docstring"
    yield from import_problems(part, tree)
    if part not in SPEAKERS:
        yield from ((line, f"{what}: only bootlab.cli speaks or exits") for line, what in speech(tree))


def test_the_package_follows_its_rules() -> None:
    """No file of the package breaks a rule."""
    found = [
        f"{path.relative_to(ROOT)}:{line}: {rule}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, rule in problems(part_of(path), path, path.read_text())
    ]
    assert not found, "\n" + "\n".join(found)


def test_names_of_folders_and_c_files_say_something() -> None:
    """No folder, C file or script hides behind a name that says nothing."""
    folders = [ROOT / name for name in ("bootlab", "guest", "plugin", "scripts", "tests")]
    assert not [path for folder in folders for path in folder.rglob("*") if BANNED & set(path.stem.split("_"))]


def test_rank_of_every_part_exists() -> None:
    """A rank names a part that is there: a leftover would allow an import by accident."""
    missing = [part for part in RANK if not (PACKAGE / part).is_dir() and not (PACKAGE / f"{part}.py").is_file()]
    assert not missing


@pytest.mark.parametrize(
    ("path", "source", "rule"),
    [
        ("timeline/marks.py", "from bootlab.report import page", "timeline (rank 1) imports report (rank 5)"),
        ("targets/qemu.py", "import bootlab.profile.plugin_trace", "targets (rank 2) imports profile (rank 2)"),
        ("targets/qemu.py", "from bootlab import cli", "targets (rank 2) imports cli (rank 6)"),
        ("targets/qemu.py", "from . import target", "relative import; write bootlab.…"),
        ("build/disk_utils.py", "", "'utils' in a file name says nothing; name the file after what it does"),
        ("build/disk.py", "print(1)", "print: only bootlab.cli speaks or exits"),
        ("build/disk.py", "import sys\nsys.exit(1)", "sys.exit: only bootlab.cli speaks or exits"),
        ("widgets/a.py", "", "part 'widgets' has no rank; give it one in RANKS and in docs/architecture.md"),
    ],
)
def test_a_broken_rule_is_found(path: str, source: str, rule: str) -> None:
    """Each rule finds the file that breaks it, and only that rule does."""
    found = problems(path.split("/")[0], PACKAGE / path, f'"""What it is for."""\n{source}\n')
    assert [text for _, text in found] == [rule]


def test_a_missing_docstring_is_found() -> None:
    """A module without a docstring is one problem, at its first line."""
    assert list(problems("build", PACKAGE / "build/disk.py", "x = 1\n")) == [(1, "no module docstring")]
