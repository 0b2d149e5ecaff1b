"""Under which options the kernel's own makefiles build each object: Kbuild files and Makefiles read as text.

Kbuild says it in few forms (Documentation/kbuild/makefiles.rst): `obj-$(CONFIG_X) += a.o dir/`, objects made of others
(`a-y`, `a-objs`), `ifdef` and `ifeq` around them. What is said in another form counts as no condition: then an object
seems to be needed by more than it is, never by less.
"""

import functools
import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path

Condition = frozenset[str]
"""Options that must all be on; one that must be off is written with `!` before it."""

_NEVER: Condition = frozenset({"never"})
_OPTION = re.compile(r"CONFIG_(\w+)")
_ONE_OPTION = re.compile(r"\$[({]CONFIG_(\w+)[)}]")
_ONLY_OPTIONS = re.compile(r"(?:\$[({]CONFIG_\w+[)}])+")
_CONDITIONAL = re.compile(r"(ifdef|ifndef|ifeq|ifneq)\b\s*(.*)")
_PAIR = re.compile(r"\(\s*(.*?)\s*,\s*(.*?)\s*\)$")
_ASSIGNMENT = re.compile(r"([^\s:+=?]+(?:\$[({][^)}]*[)}][^\s:+=?]*)*)\s*(?:\+=|::?=|\?=|=)\s*(.*)")
_LIST = re.compile(r"([\w./-]+?)-(y|m|objs|\$.*)$")
_WORD = re.compile(r"\$\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|[^\s$]+")
_IF = re.compile(r"\$\(if\s+\$[({]CONFIG_(\w+)[)}]\s*,([^,)]*),?([^)]*)\)$")
_PREFIXED = re.compile(r"\$\(addprefix\s+([\w./-]+)\s*,\s*(.*)\)$")
_VARIABLE = re.compile(r"\$[({]([\w.-]+)[)}]$")
_LINKED = frozenset({"obj", "lib", "pi-obj", "core", "libs", "drivers", "head", "vobjs", "always", "extra"})
"""Lists whose members go into the kernel, or into an object that does."""
_NESTING = 6
_BITS = {"x86": "64", "arm64": "64", "arm": "32", "riscv": "64"}


def holds(condition: Condition, on: Collection[str]) -> bool:
    """Return whether a configuration, the options that are on, meets a condition."""
    return all((word[1:] not in on) if word[0] == "!" else (word in on) for word in condition)


class Makefiles:
    """The makefiles of one kernel tree, for one of kbuild's architectures (`x86`, `arm64`, `arm`)."""

    def __init__(self, tree: Path, arch: str) -> None:
        self._tree = tree
        self._arch = arch

    @functools.cache  # noqa: B019 - one lives as long as what it is made for
    def conditions(self, path: str) -> tuple[Condition, ...]:
        """Return the conditions of which any builds an object, as `kernel/fork.o`; empty when it is in no list."""
        folder, _, name = path.rpartition("/")
        return self._reached(folder, name)

    def _reached(self, folder: str, name: str) -> tuple[Condition, ...]:
        # A list may name what lies in a folder further down.
        while True:
            if self._has_makefile(folder):
                found = self._named(folder, name, frozenset())
                if not found and name.endswith(".o"):
                    found = self._named(
                        folder, f"{'/'.join(name.split('/')[:-1] + [''])}pi-{name.split('/')[-1]}", frozenset()
                    )
                if found:
                    return _simplest(one | above for one in found for above in self._entered(folder))
            if not folder:
                return ()
            folder, _, last = folder.rpartition("/")
            name = f"{last}/{name}"

    @functools.cache  # noqa: B019
    def _entered(self, folder: str) -> tuple[Condition, ...]:
        if folder in ("", "lib", f"arch/{self._arch}", f"arch/{self._arch}/lib"):
            return (frozenset(),)
        parent, _, last = folder.rpartition("/")
        found = self._reached(parent, f"{last}/")
        return found or self._reached(parent, last) or self._of_architecture(folder) or (frozenset(),)

    def _of_architecture(self, folder: str) -> tuple[Condition, ...]:
        # core-y, drivers-$(CONFIG_PCI), ... of arch/X/Makefile name folders from the top of the tree.
        lists = self._lists(f"arch/{self._arch}", ("Makefile",))
        names = (f"{folder}/", folder)
        return _simplest(
            condition
            for stem in ("core", "drivers", "libs")
            for value, given in lists.get(stem, ())
            for word, condition in self._words(f"arch/{self._arch}", value, given, lists)
            if word in names
        )

    def _named(self, folder: str, name: str, seen: frozenset[str]) -> tuple[Condition, ...]:
        found = list[Condition]()
        for whole, condition in self._members(folder).get(name, ()):
            if whole is None:
                found.append(condition)
            elif whole not in seen:
                found += (condition | above for above in self._named(folder, whole, seen | {name}))
        return _simplest(found)

    @functools.cache  # noqa: B019
    def _members(self, folder: str) -> dict[str, list[tuple[str | None, Condition]]]:
        """Return member -> what it is a part of (None: the kernel itself), and under which condition."""
        members = defaultdict[str, list[tuple[str | None, Condition]]](list)
        lists = self._lists(folder, ("Kbuild", "Makefile"))
        for stem, values in lists.items():
            if stem.startswith("="):
                continue
            whole = None if stem in _LINKED else f"{stem}.o"
            for value, given in values:
                for word, condition in self._words(folder, value, given, lists):
                    members[word].append((whole, condition))
        return members

    def _words(
        self, folder: str, value: str, given: Condition, lists: dict[str, list[tuple[str, Condition]]], depth: int = 0
    ) -> Iterator[tuple[str, Condition]]:
        value = re.sub(r"\$\((?:obj|src)\)/", "", value).strip()
        if depth > _NESTING:
            return
        if prefixed := _PREFIXED.match(value):
            for word, condition in self._words(folder, prefixed[2], given, lists, depth + 1):
                yield f"{prefixed[1]}{word}", condition
            return
        for word in _WORD.findall(value):
            if chosen := _IF.match(word):
                for part, literal in ((chosen[2], chosen[1]), (chosen[3], f"!{chosen[1]}")):
                    yield from ((one, given | {literal}) for one in part.split())
            elif variable := _VARIABLE.match(word):
                name = variable[1]
                stem = re.fullmatch(r"(.+)-(?:y|objs)", name)
                for key in (stem[1] if stem else "", f"={name}"):
                    for inner, condition in lists.get(key, ()):
                        yield from self._words(folder, inner, given | condition, lists, depth + 1)
            elif not word.startswith("$"):
                yield word, given

    @functools.cache  # noqa: B019
    def _lists(self, folder: str, names: tuple[str, ...]) -> dict[str, list[tuple[str, Condition]]]:
        lists = defaultdict[str, list[tuple[str, Condition]]](list)
        for name in names:
            path = self._tree / folder / name
            if path.is_file():
                self._read(path, lists, [])
                break
        return lists

    def _has_makefile(self, folder: str) -> bool:
        return any((self._tree / folder / name).is_file() for name in ("Kbuild", "Makefile"))

    def _read(self, path: Path, lists: dict[str, list[tuple[str, Condition]]], stack: list["_Branch"]) -> None:
        text = path.read_text(encoding="utf-8", errors="replace").replace("\\\n", " ")
        for variable, constant in (("BITS", _BITS.get(self._arch, "64")), ("SRCARCH", self._arch)):
            text = text.replace(f"$({variable})", constant)
        for raw in text.split("\n"):
            line = re.sub(r"(^|\s)#.*", "", raw).strip()
            if not line:
                continue
            if found := _CONDITIONAL.match(line):
                stack.append(_Branch(_meaning(found[1], found[2])))
            elif line.startswith("else"):
                if stack:
                    deeper = _CONDITIONAL.search(line)
                    stack[-1].turn(_meaning(deeper[1], deeper[2]) if deeper else None)
            elif line.startswith("endif"):
                if stack:
                    stack.pop()
            elif included := re.match(r"-?include\s+(\S+)$", line):
                name = included[1].replace("$(srctree)", str(self._tree)).replace("$(src)", str(path.parent))
                other = self._tree / name
                if "$" not in name and "scripts" not in other.parts and other.is_file():
                    self._read(other, lists, stack)
            elif assignment := _ASSIGNMENT.match(line):
                given: Condition = frozenset().union(*(branch.condition for branch in stack))
                self._assign(assignment[1], assignment[2], given, lists)

    def _assign(self, name: str, value: str, given: Condition, lists: dict[str, list[tuple[str, Condition]]]) -> None:
        if found := _LIST.match(name):
            stem, suffix = found.groups()
            if suffix == "m":
                return
            if absent := re.fullmatch(r"\$\(if\s+\$\(CONFIG_(\w+)\),\s*,\s*y\)", suffix):
                given |= {f"!{absent[1]}"}
            else:
                given |= set(_OPTION.findall(suffix))
            lists.setdefault(stem, []).append((value, given))
        lists.setdefault(f"={name}", []).append((value, given))


class _Branch:
    """One `if` and where in it we are."""

    def __init__(self, condition: Condition | None) -> None:
        self.condition: Condition = condition or frozenset()
        self._others = _opposite(condition)

    def turn(self, condition: Condition | None) -> None:
        """Go on to its `else`, or to its `else ifeq ...`."""
        self.condition = self._others | (condition or frozenset())
        self._others |= _opposite(condition)


def _opposite(condition: Condition | None) -> Condition:
    # Of several that must hold together, not one has to fail: nothing can be said.
    if condition is None or len(condition) != 1:
        return frozenset()
    (word,) = condition
    if word in _NEVER:
        return frozenset()
    return frozenset({word[1:] if word[0] == "!" else f"!{word}"})


def _meaning(kind: str, words: str) -> Condition | None:
    """Return what an `if` asks for; None when that cannot be said of options that must all hold."""
    words = words.strip()
    if kind in ("ifdef", "ifndef"):
        found = _OPTION.fullmatch(words)
        return None if found is None else frozenset({found[1] if kind == "ifdef" else f"!{found[1]}"})
    pair = _PAIR.match(words)
    if pair is None:
        return None
    left, right = pair.groups()
    if "$" not in left + right:
        return None if (left == right) == (kind == "ifeq") else _NEVER
    if right.startswith("$"):
        left, right = right, left
    if not _ONLY_OPTIONS.fullmatch(left):
        return None
    options = _ONE_OPTION.findall(left)
    if right == "y" * len(options):
        if kind == "ifeq":
            return frozenset(options)
        return frozenset({f"!{options[0]}"}) if len(options) == 1 else None
    if right == "":
        if kind == "ifeq":
            return frozenset(f"!{option}" for option in options)
        return frozenset(options) if len(options) == 1 else None
    return None


def _simplest(conditions: Iterator[Condition] | list[Condition]) -> tuple[Condition, ...]:
    # What another one asks for already adds nothing.
    found = list(dict.fromkeys(conditions))
    kept = [one for one in found if not any(other < one for other in found)]
    return tuple(sorted(kept, key=sorted))
