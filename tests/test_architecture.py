"""The tree is the architecture: who may import whom, and what may be called what.

Reads source with `ast` only, so it takes a second and needs nothing installed. A failure prints path:line and the rule.
"""

import ast
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "bootlab"

# A part imports only parts of a lower rank: never its own rank, never up. Inside one part, files may import each other.
RANKS = (
    ("sources", "document", "errors", "plain_file"),
    ("extensions", "kept_file", "price", "process", "symbols", "system", "timeline"),
    ("clouds", "importers", "probing", "profile", "build", "network", "snapshot"),
    ("techniques", "targets"),
    ("measure",),
    ("cluster", "findings"),
    ("experiments",),
    ("ledger",),
    ("report",),
    ("cli",),
    ("__main__",),
)
RANK = {part: rank for rank, parts in enumerate(RANKS) for part in parts}
# Names that say nothing: such a file becomes the place where everything lands.
BANNED = {"util", "utils", "helper", "helpers", "common", "misc", "lib", "core", "base", "manager", "stuff"}
# A folder with more files than this is a hall: its names share prefixes by then, and want rooms.
LARGEST_ROOM = 25
# Everybody else asks `targets.registry`: what is special about one target is that target's own.
KNOW_ONE_TARGET = {
    "cli/outside/ec2.py": "`bootlab ec2` is about instances of EC2",
    "clouds/commands.py": "a machine of a cloud of four commands, as its system file has them",
    "clouds/ec2.py": "an instance of EC2, as its system file asks for it",
    "clouds/rent.py": "what that instance costs",
    "cli/watch/loop.py": "`bootlab watch` reads serial lines, whatever hangs on them",
    "cli/watch/verb.py": "`bootlab watch` lists this machine's serial ports",
    "measure/host_fit/guest.py": "`bootlab host fit` times what KVM takes, whose guests QEMU runs",
    "measure/host/toolbox.py": "`bootlab doctor` says which QEMU is here, and whether KVM works",
}
# Lines; "about", as CONTRIBUTING.md has it, is no more than a twentieth.
LONGEST_FUNCTION, LONGEST_FILE = 63, 420
# Only the command line speaks to the user or ends the process.
SPEAKERS = {"cli", "__main__"}
MOST_PARAMETERS = 6
# The functions of the table of verbs: `"import": "import_:import_"`.
VERB_FUNCTIONS = set(re.findall(r'^    "\w+": "[\w.]+:(\w+)",$', (PACKAGE / "cli/app.py").read_text(), re.MULTILINE))


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


def imported_modules(tree: ast.Module, modules: Container[str]) -> Iterator[str]:
    """Yield the modules of ours that a module needs before it can run; imports inside of functions come later."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module in modules:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in modules else str(node.module)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)


def find_circle(arrows: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the names along one circle of arrows, its first name again at its end; empty when there is none."""
    done: set[str] = set()
    path: list[str] = []

    def visit(name: str) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        path.append(name)
        for other in arrows.get(name, ()):
            if circle := visit(other):
                return circle
        done.add(path.pop())
        return []

    return next((circle for name in arrows if (circle := visit(name))), [])


def module_name(path: Path) -> str:
    """Return the dotted name that a file of the package is imported by."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_no_module_imports_itself_by_way_of_others() -> None:
    """A circle of imports ties files together that cannot be read, tested or moved alone."""
    paths = {module_name(path): path for path in PACKAGE.rglob("*.py")}
    arrows = {name: list(imported_modules(ast.parse(path.read_text()), paths)) for name, path in paths.items()}
    assert not find_circle(arrows)


def test_a_circle_is_found() -> None:
    """The circle itself is returned, not the way into it."""
    assert find_circle({"a": ["b"], "b": ["c"], "c": ["b", "d"], "d": []}) == ["b", "c", "b"]
    assert not find_circle({"a": ["b", "c"], "b": ["c"], "c": []})


def target_questions(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield (line, rule) for each place where a module asks which target it deals with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            if node.module.startswith("bootlab.targets.") and node.module.count(".") > 2:
                yield node.lineno, f"imports {node.module}: ask the promise in bootlab.targets.target"
            elif node.module in ("bootlab.system", "bootlab.system.target.target"):
                kinds = [alias.name for alias in node.names if alias.name in TARGET_SETTINGS]
                yield from ((node.lineno, f"imports {name}, which is one target's") for name in kinds)
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Attribute) and node.left.attr == "target":
            yield node.lineno, "asks whether there is a [target]: ask the promise in bootlab.targets.target"


def settings_of_targets() -> set[str]:
    """Return the classes of the system file's [target], one for each kind."""
    tree = ast.parse((PACKAGE / "system/target/target.py").read_text())
    return {node.name for node in tree.body if isinstance(node, ast.ClassDef)}


TARGET_SETTINGS = settings_of_targets()


def test_nobody_asks_which_target_a_system_boots_on() -> None:
    """A new target is a folder and a line in the registry: nothing else knows one by its name."""
    found = {
        f"{path.relative_to(PACKAGE)}:{line}: {rule}"
        for path in PACKAGE.rglob("*.py")
        if part_of(path) not in ("targets", "system") and str(path.relative_to(PACKAGE)) not in KNOW_ONE_TARGET
        for line, rule in target_questions(ast.parse(path.read_text()))
    }
    assert not found, "\n" + "\n".join(sorted(found))


def test_who_knows_one_target_still_does() -> None:
    """An exception that nobody needs any more would let the next import pass."""
    assert not [name for name in KNOW_ONE_TARGET if not [*target_questions(ast.parse((PACKAGE / name).read_text()))]]


@pytest.mark.parametrize(
    "source",
    [
        "from bootlab.targets.serial.session import SerialSession",
        "from bootlab.system import SerialLine",
        "x = system.target is None",
        "x = system.target is not None",
    ],
)
def test_a_question_for_the_target_is_found(source: str) -> None:
    """Each way to ask is one problem; the promise and the registry may be imported."""
    asked = f"from bootlab.targets.registry import target_of\nfrom bootlab.system import System\n{source}\n"
    assert [line for line, _ in target_questions(ast.parse(asked))] == [3]


def rooms() -> list[Path]:
    """Return every folder of the package that holds modules."""
    return sorted({path.parent for path in PACKAGE.rglob("*.py")})


def test_no_room_is_a_hall() -> None:
    """No folder of Python has more files than a newcomer can take in at a glance."""
    folders = {*rooms(), *(path.parent for path in (ROOT / "tests").rglob("*.py"))}
    sizes = {str(folder.relative_to(ROOT)): len(list(folder.glob("*.py"))) for folder in folders}
    assert not {room: size for room, size in sizes.items() if size > LARGEST_ROOM}


def test_every_room_says_what_it_is_for() -> None:
    """docs/architecture.md has a line for every folder, and its answer is the folder's own docstring."""
    document = (ROOT / "docs/architecture.md").read_text()
    for room in rooms():
        name = str(room.relative_to(PACKAGE))
        if "/" in name:
            tree = ast.parse((room / "__init__.py").read_text())
            answer = (ast.get_docstring(tree) or "").split("\n")[0].rstrip(".")
            assert f"| `{name}/` | {answer} |" in document
        elif name != ".":
            assert f"| `{name}/` |" in document


def test_every_other_folder_says_what_it_is_for() -> None:
    """docs/architecture.md has a line for each folder of scripts and of C, and for tests that are not a part's own."""
    document = (ROOT / "docs/architecture.md").read_text()
    scripts = {path.parent for path in (ROOT / "scripts").rglob("*.py") if "templates" not in path.parts}
    c = {path.parent for top in ("guest", "plugin") for path in (ROOT / top).rglob("*.c")}
    tests = {path for path in (ROOT / "tests").iterdir() if any(path.glob("**/test_*.py"))}
    named = {
        str(folder.relative_to(ROOT))
        for folder in scripts | c | {path for path in tests if not (PACKAGE / path.name).is_dir()}
        if folder.name != "tests" and folder not in (ROOT / "guest", ROOT / "tests")
    }
    assert len(named) > 25
    assert not {name for name in named if not re.search(rf"^\| `{name}/` \| \S", document, re.MULTILINE)}


def test_a_class_has_a_name_of_its_own() -> None:
    """Two things have two words: no two classes of the package share a name, private ones included."""
    places: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(PACKAGE)))
    assert not {name: paths for name, paths in places.items() if len(paths) > 1}


Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(tree: ast.Module) -> Iterator[tuple[Function, ast.ClassDef | None]]:
    """Yield each function of a module, and each method with its class; those inside of functions are details."""
    for node in tree.body:
        if isinstance(node, Function):
            yield node, None
        elif isinstance(node, ast.ClassDef):
            yield from ((method, node) for method in node.body if isinstance(method, Function))


def decorators(function: Function) -> set[str]:
    """Return the names of a function's decorators, without their arguments."""
    return {ast.unparse(one).partition("(")[0].rpartition(".")[2] for one in function.decorator_list}


def undescribed(tree: ast.Module, promised: Container[str]) -> Iterator[tuple[int, str]]:
    """Yield (line, name) of each public function whose docstring is missing.

    Whoever keeps a promise need not repeat it: `promised` are the methods that a protocol or an abstract class
    describes. A property is its name, unless it may be None.
    """
    for function, owner in functions(tree):
        if function.name.startswith("_") or (owner is not None and owner.name.startswith("_")):
            continue
        is_plain = decorators(function) & {"property", "cached_property"} and not (
            function.returns is not None and "None" in ast.unparse(function.returns)
        )
        kept = owner is not None and function.name in promised
        if ast.get_docstring(function) is None and not is_plain and not kept:
            yield function.lineno, function.name


def promises(trees: Iterable[ast.Module]) -> set[str]:
    """Return the names of the methods that protocols and abstract classes describe."""
    return {
        function.name
        for tree in trees
        for function, owner in functions(tree)
        if owner is not None
        and {ast.unparse(base) for base in owner.bases} & {"Protocol", "ABC"}
        and ast.get_docstring(function) is not None
    }


def test_every_public_function_says_what_it_returns() -> None:
    """In words, wherever it is: who calls it reads no body."""
    trees = {path: ast.parse(path.read_text()) for path in PACKAGE.rglob("*.py")}
    promised = promises(trees.values())
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name} has no docstring"
        for path, tree in trees.items()
        for line, name in undescribed(tree, promised)
    ]
    assert not found, "\n" + "\n".join(sorted(found))


def test_every_public_class_says_what_it_is() -> None:
    """In a sentence of its own: a list of fields or values does not."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.name} has no docstring"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and ast.get_docstring(node) is None
    ]
    assert not found, "\n" + "\n".join(sorted(found))


def test_no_function_and_no_file_is_too_long() -> None:
    """Verbs are let off, of which each option is a parameter with its help: they are the functions of `cli` by name."""
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text()
        assert text.count("\n") <= LONGEST_FILE, path
        for function, _ in functions(ast.parse(text)):
            is_verb = part_of(path) == "cli" and any("typer." in ast.unparse(one) for one in function.args.args)
            lines = (function.end_lineno or 0) - function.lineno + 1
            assert is_verb or lines <= LONGEST_FUNCTION, f"{path}: {function.name} has {lines} lines"


def too_many_parameters(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield (line, name) of each function that takes more than six things. A verb has as many options as it needs."""
    for node in ast.walk(tree):
        if isinstance(node, Function):
            taken = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            is_verb = any("typer." in ast.unparse(one) for one in taken) or node.name in VERB_FUNCTIONS
            number = len([one for one in taken if one.arg not in ("self", "cls")])
            if number > MOST_PARAMETERS and not is_verb:
                yield node.lineno, node.name


def test_no_function_but_a_verb_takes_more_than_six_things() -> None:
    """ruff lets whole files of verbs off, and so what else is in them."""
    found = {
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in PACKAGE.rglob("*.py")
        for line, name in too_many_parameters(ast.parse(path.read_text()))
    }
    assert not found


def test_a_function_that_takes_too_many_things_is_found() -> None:
    """Wherever it is, keywords counted; `self` is no thing that is taken, and a verb is let off."""
    six = "a, b, c, d, e, f"
    source = f"def g({six}, *, g): ...\nclass A:\n def h(self, {six}): ...\ndef verb({six}, g: typer.Option): ...\n"
    assert list(too_many_parameters(ast.parse(source))) == [(1, "g")]


def test_names_of_folders_and_c_files_say_something() -> None:
    """No folder, C file or script hides behind a name that says nothing."""
    folders = [ROOT / name for name in ("bootlab", "guest", "plugin", "scripts", "tests")]
    assert not [path for folder in folders for path in folder.rglob("*") if BANNED & set(path.stem.split("_"))]


def test_rank_of_every_part_exists() -> None:
    """A rank names a part that is there: a leftover would allow an import by accident."""
    missing = [part for part in RANK if not (PACKAGE / part).is_dir() and not (PACKAGE / f"{part}.py").is_file()]
    assert not missing


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def f(): return 1", ["f"]),
        ("async def f(): return 1", ["f"]),
        ("def _f(): return 1", []),
        ("class A:\n def f(self): return 1", ["f"]),
        ("class _A:\n def f(self): return 1", []),
        ("class A:\n @property\n def f(self) -> int: return 1", []),
        ("class A:\n @property\n def f(self) -> int | None: return 1", ["f"]),
        ("class A:\n def kept(self): return 1", []),
        ("def kept(): return 1", ["kept"]),
        ('def f():\n """Return 1."""\n return 1', []),
    ],
)
def test_a_function_without_a_description_is_found(source: str, found: list[str]) -> None:
    """A promise is one class's to describe, and another one's to keep."""
    protocol = 'class P(Protocol):\n def kept(self):\n  """Return it."""\n def bare(self): ...\n'
    assert promises([ast.parse(protocol)]) == {"kept"}
    assert [name for _, name in undescribed(ast.parse(source), {"kept"})] == found


@pytest.mark.parametrize(
    ("path", "source", "rule"),
    [
        ("timeline/marks.py", "from bootlab.report import page", "timeline (rank 1) imports report (rank 8)"),
        (
            "targets/qemu/session.py",
            "import bootlab.techniques.model.technique",
            "targets (rank 3) imports techniques (rank 3)",
        ),
        ("targets/qemu/session.py", "from bootlab import cli", "targets (rank 3) imports cli (rank 9)"),
        ("targets/qemu/session.py", "from . import target", "relative import; write bootlab.…"),
        ("build/disk_utils.py", "", "'utils' in a file name says nothing; name the file after what it does"),
        ("build/root/disk.py", "print(1)", "print: only bootlab.cli speaks or exits"),
        ("build/root/disk.py", "import sys\nsys.exit(1)", "sys.exit: only bootlab.cli speaks or exits"),
        ("widgets/a.py", "", "part 'widgets' has no rank; give it one in RANKS and in docs/architecture.md"),
    ],
)
def test_a_broken_rule_is_found(path: str, source: str, rule: str) -> None:
    """Each rule finds the file that breaks it, and only that rule does."""
    found = problems(path.split("/")[0], PACKAGE / path, f'"""What it is for."""\n{source}\n')
    assert [text for _, text in found] == [rule]


def test_a_missing_docstring_is_found() -> None:
    """A module without a docstring is one problem, at its first line."""
    assert list(problems("build", PACKAGE / "build/root/disk.py", "x = 1\n")) == [(1, "no module docstring")]
