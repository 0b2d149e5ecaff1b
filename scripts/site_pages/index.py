"""The index of the site's search as a script: a page of file:// may load that, and no other file."""

import sys
from pathlib import Path


def write_index(site: Path) -> None:
    """Put search_index.js in the place of the search_index.json that MkDocs has written below `site`."""
    made = site / "search" / "search_index.json"
    # JSON is an expression of JavaScript.
    made.with_suffix(".js").write_text(f"window.searchIndex = {made.read_text(encoding='utf-8')};\n", encoding="utf-8")
    made.unlink()


if __name__ == "__main__":
    write_index(Path(sys.argv[1]))
