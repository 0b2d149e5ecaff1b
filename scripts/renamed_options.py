"""`scripts/renamed-options`: check the list of renamed kernel options against source trees, and find what it lacks.

    python -m scripts.renamed_options check TREE... | find OLD_TREE NEW_TREE | history REPOSITORY [RANGE]

Exit code 0: the list is right, or there is nothing to add; 1: something is to be looked at; 2: no such tree.
"""

import argparse
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bootlab.build.source.renamed_options import load_renames

_ENTRY = re.compile(r"^\s*(?:menu)?config\s+(\w+)\s*(?:#.*)?$")
_PROMPT = re.compile(r'^\s+(?:bool|tristate|string|int|hex|prompt)\s+["\'](.+?)["\']')
_ANOTHER = re.compile(r"^(menu|endmenu|choice|endchoice|if|endif|source|comment)\b")
_NO_KCONFIG = ("Documentation/kbuild", "scripts/kconfig/tests")
_COMMIT = 12


@dataclass
class Entry:
    """What a tree's Kconfig files say of one option."""

    prompts: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    transitional: bool = False
    """It is there only to hand its value to its new name (Linux 6.18)."""


def main(argv: list[str]) -> int:
    """Run the script and return its exit code."""
    parser = argparse.ArgumentParser(prog="scripts/renamed-options")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("check").add_argument("trees", nargs="+", type=Path)
    find = verbs.add_parser("find")
    find.add_argument("old", type=Path)
    find.add_argument("new", type=Path)
    history = verbs.add_parser("history")
    history.add_argument("repository", type=Path)
    history.add_argument("range", nargs="?", default="HEAD")
    options = parser.parse_args(argv)
    trees: list[Path] = options.trees if options.verb == "check" else []
    if options.verb == "find":
        trees = [options.old, options.new]
    for tree in trees:
        if not (tree / "Kconfig").is_file():
            print(f"renamed-options: error: {tree}: no source tree of Linux", file=sys.stderr)
            return 2
    if options.verb == "check":
        complaints = [line for tree in options.trees for line in check(tree)]
        print("\n".join(complaints) or "the list is right for these trees")
        return 1 if complaints else 0
    found = (
        list(candidates(options.old, options.new))
        if options.verb == "find"
        else list(renamed_in(options.repository, options.range))
    )
    for row in found:
        print(json.dumps(row))
    return 1 if found else 0


def entries(tree: Path) -> dict[str, Entry]:
    """Return option -> what the tree's Kconfig files say of it."""
    found: dict[str, Entry] = defaultdict(Entry)
    for path in sorted(tree.rglob("Kconfig*")):
        place = path.relative_to(tree).as_posix()
        if place.startswith(_NO_KCONFIG) or not path.is_file():
            continue
        entry = None
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            if named := _ENTRY.match(line):
                entry = found[named[1]]
                entry.files.add(place)
            elif _ANOTHER.match(line):
                entry = None
            elif entry is not None and line.strip() == "transitional":
                entry.transitional = True
            elif entry is not None and (prompt := _PROMPT.match(line)):
                entry.prompts.add(_plain(prompt[1]))
    return dict(found)


def check(tree: Path) -> Iterator[str]:
    """Yield what in the list is wrong for a tree: a name that should be gone, or should be there."""
    version, known = version_of(tree), entries(tree)
    for one in load_renames().values():
        old, new = known.get(one.old), known.get(one.new)
        # An option may have gone altogether after it was renamed; an old name may stay without a prompt.
        if _number(one.linux) <= _number(version) and new is None and old is not None and not old.transitional:
            yield f"{tree}: Linux {version} still has {one.old}, and no {one.new} (renamed in {one.linux})"


def candidates(old: Path, new: Path) -> Iterator[dict[str, str]]:
    """Yield what may have been renamed between two trees and is not in the list: options of one prompt."""
    before, after = entries(old), entries(new)
    by_prompt: dict[str, set[str]] = defaultdict(set)
    for name in after.keys() - before.keys():
        for prompt in after[name].prompts:
            by_prompt[prompt].add(name)
    for name in sorted(before):
        if (name in after and not after[name].transitional) or name in load_renames():
            continue
        names = {one for prompt in before[name].prompts for one in by_prompt[prompt]}
        # One prompt for several options says nothing, as `LZ4` does.
        if len(names) == 1:
            yield {"old": name, "new": names.pop(), "linux": f"by {version_of(new)}", "commit": ""}


def renamed_in(repository: Path, revisions: str) -> Iterator[dict[str, str]]:
    """Yield each commit that puts `config` lines in the place of others, of options not in the list."""
    log = _git(repository, "log", "--reverse", "-p", "-U0", "--format=commit %H", revisions, "--", "*Kconfig*")
    commit, gone, come = "", list[str](), list[str]()
    for line in [*log.splitlines(), "@@"]:
        if line.startswith(("commit ", "@@", "diff ")):
            # As many come as go in one place: each in the place of the one that stood there.
            for old, new in zip(gone, come, strict=True) if len(gone) == len(come) else ():
                if old != new and old not in load_renames():
                    yield {"old": old, "new": new, "linux": _release(repository, commit), "commit": commit[:_COMMIT]}
            gone, come = [], []
            commit = line.split()[1] if line.startswith("commit ") else commit
        elif line.startswith(("-", "+")) and (named := _ENTRY.match(line[1:])):
            (gone if line[0] == "-" else come).append(named[1])


def version_of(tree: Path) -> str:
    """Return a tree's version, as in `6.12.107`."""
    text = (tree / "Makefile").read_text(encoding="utf-8")
    values = dict(re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL) *= *(\d+)", text, re.MULTILINE))
    return ".".join(values[name] for name in ("VERSION", "PATCHLEVEL", "SUBLEVEL") if name in values)


def _release(repository: Path, commit: str) -> str:
    described = _git(repository, "describe", "--contains", "--match", "v*", "--always", commit).strip()
    found = re.match(r"v(\d+\.\d+)", described)
    return found[1] if found else "unreleased"


def _git(repository: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", repository, *words], check=True, capture_output=True, encoding="utf-8", errors="replace"
    ).stdout


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


def _plain(prompt: str) -> str:
    return re.sub(r"\W+", " ", prompt).strip().lower()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
