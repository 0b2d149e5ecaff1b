"""Tables that try or name whatever the catalogue has: those that know less of it than there is now.

A technique that comes changes what such a table would say: it may be tried, and is counted where it does not apply. To
measure a whole trial anew takes minutes and an idle machine, so a change is not held to it; a release is.
"""

from collections.abc import Iterator, Mapping, Sequence

from bootlab.techniques.model.catalogue import load_catalogue
from scripts.publishing.tables import Published

_WHOLE = ("try", "advise")
_NAMED = 6


def techniques_now() -> list[str]:
    """Return the names of all techniques that come with bootlab."""
    return [one.name for one in load_catalogue()]


def takes_whole_catalogue(table: Published) -> bool:
    """Return whether its command looks at every technique: it names a system and no technique or plan."""
    verb, *words = table.command or [""]
    return verb in _WHOLE and len([word for word in words if not word.startswith("-")]) == 1 and "--plan" not in words


def find_new_techniques(tables: Mapping[str, Published], now: Sequence[str]) -> Iterator[str]:
    """Yield which tables know nothing of techniques that came since they were measured, and of which."""
    for name, table in tables.items():
        if not takes_whole_catalogue(table):
            continue
        known = table.techniques.split()
        new = [one for one in now if one not in known]
        if not new:
            continue
        named = ", ".join(new[:_NAMED]) + (f" and {len(new) - _NAMED} more" if len(new) > _NAMED else "")
        yield f"{name}: {table.document}: it does not know of {named}, which came since: scripts/publish {name}"
