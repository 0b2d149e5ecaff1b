"""`scripts/docs`: the pages that MkDocs makes a site of, and the manual pages, put into a folder anew."""

import shutil
import sys
from pathlib import Path
from typing import Final

from scripts.site_pages.manual import write_manual
from scripts.site_pages.pages import write_pages
from scripts.site_pages.reference import verbs_page

ROOT: Final = Path(__file__).resolve().parents[2]
SEARCH: Final = Path(__file__).with_name("search.js")


def main(target: Path) -> int:
    """Write pages/ and man/ below `target`, in place of those that are there."""
    pages, man = target / "pages", target / "man"
    for folder in (pages, man):
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
    write_pages(ROOT, pages)
    (pages / "reference").mkdir()
    (pages / "reference" / "verbs.md").write_text(verbs_page())
    (pages / "search").mkdir()
    shutil.copyfile(SEARCH, pages / "search" / SEARCH.name)
    write_manual(man)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
