"""Packages of which a boot opened no file: those that a build could leave out."""

from collections.abc import Collection, Iterable, Mapping


def unused_packages(
    files: Mapping[str, Collection[str]], there: Collection[str], unused: Iterable[str], kept: Collection[str] = ()
) -> list[str]:
    """Return the packages all of whose files that are there were never opened, sorted; those `kept` are none of them.

    `files`: package -> its files; `there`: the files of the root. A package without a file in the root is left alone:
    what it is for was not seen.
    """
    left = frozenset(unused)
    present = frozenset(there)
    found = []
    for package, names in files.items():
        mine = present.intersection(names)
        if mine and mine <= left and package not in kept:
            found.append(package)
    return sorted(found)
