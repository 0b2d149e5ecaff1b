"""Which modules of a kernel are for which devices: modalias -> module names, as modprobe would find them.

A module says what it is for in its own aliases, patterns as of fnmatch(3); depmod would collect them on an installed
system, and a package carries no list. Reading thousands of modules takes seconds, so what they say is kept.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from bootlab.build.modules.package import ModuleTree, identify_modules
from bootlab.build.workshop import Workshop

_PREFIX = re.compile(r"[^*?\[\\]*")
_FORMAT = 1


class ModuleAliases:
    """The aliases of all modules of one kernel."""

    def __init__(self, aliases: Iterable[tuple[str, str]]) -> None:
        self._by_bus: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
        for pattern, name in aliases:
            # What comes before the first wildcard decides most of them; it has no bus in it for a few.
            prefix = _prefix(pattern)
            bus = prefix.split(":")[0] if ":" in prefix else ""
            self._by_bus[bus].append((prefix, pattern, name))

    def modules(self, modalias: str) -> list[str]:
        """Return the modules that say they are for the device, sorted."""
        candidates = [*self._by_bus.get(modalias.split(":")[0], ()), *self._by_bus.get("", ())]
        found = {
            name
            for prefix, pattern, name in candidates
            if modalias.startswith(prefix) and fnmatchcase(modalias, pattern)
        }
        return sorted(found)


def read_aliases(shop: Workshop, tree: Path) -> ModuleAliases:
    """Return what the modules below an unpacked kernel package say. Raises InputError for damaged ones."""

    def build(path: Path) -> None:
        shop.tell("reading what each module is for")
        modules = ModuleTree(tree)
        pairs = [[alias, name] for name in modules.files for alias in modules.aliases(name)]
        path.write_text(json.dumps(pairs), encoding="utf-8")

    kept = shop.cache.make("module-aliases", f"{_FORMAT} {identify_modules(tree)}", build)
    return ModuleAliases((alias, name) for alias, name in json.loads(kept.read_text(encoding="utf-8")))


def _prefix(pattern: str) -> str:
    found = _PREFIX.match(pattern)
    return found[0] if found else ""
