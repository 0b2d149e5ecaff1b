"""`scripts/new`: the files of a new technique, importer or target, in their places, with words left to fill in.

What is made works: a technique changes a system, an importer reads its sample, a target boots what a command prints.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from scripts.new_part.importer import new_importer
from scripts.new_part.places import Refused
from scripts.new_part.target import new_target
from scripts.new_part.technique import new_technique

ROOT: Final = Path(__file__).resolve().parents[2]
_MAKERS: Final[dict[str, Callable[[Path, str, Path | None], list[str]]]] = {
    "technique": new_technique,
    "importer": new_importer,
    "target": new_target,
}


def main(argv: Sequence[str], root: Path = ROOT) -> int:
    """Make what is asked for and say what it was; returns 0, or 2 for what cannot be made."""
    parser = argparse.ArgumentParser(prog="scripts/new", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kind", choices=sorted(_MAKERS))
    parser.add_argument("name", help="a technique is LAYER_WHAT, an importer FORMAT or FOLDER/FORMAT")
    parser.add_argument("--in", dest="folder", type=Path, metavar="DIR", help="an extension, outside of the package")
    asked = parser.parse_args(argv)
    try:
        lines = _MAKERS[asked.kind](root, asked.name, asked.folder.resolve() if asked.folder else None)
    except Refused as error:
        print(f"new-{asked.kind}: error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"new-{asked.kind}: error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    with suppress(BrokenPipeError):
        print("\n".join(lines), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
