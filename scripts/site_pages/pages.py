"""The documents as pages of a site: README is its start, and a link to a file of the tree leads to a copy of it."""

import os
import re
import shutil
from pathlib import Path, PurePosixPath
from typing import Final

_LINK: Final = re.compile(r"\[([^\[\]]*)\]\(([^)\s:#]+)(#[^)\s]*)?\)")
_BESIDE: Final = ("CONTRIBUTING.md", "CHANGELOG.md")
"""Documents at the top of the tree that are pages, too."""


def write_pages(root: Path, pages: Path) -> None:
    """Write every document of docs/, README, and those beside it below `pages`, and what they link to."""
    documents = sorted((root / "docs").rglob("*.md"))
    for document in [root / "README.md", *(root / name for name in _BESIDE), *documents]:
        _write(document, root, pages)


def page_of(file: Path, root: Path) -> PurePosixPath:
    """Return where a file of the tree is on the site."""
    relative = PurePosixPath(file.relative_to(root).as_posix())
    if relative == PurePosixPath("README.md"):
        return PurePosixPath("index.md")
    if str(relative) in _BESIDE:
        return relative
    return relative.relative_to("docs") if relative.parts[0] == "docs" else PurePosixPath("tree") / relative


def _write(document: Path, root: Path, pages: Path) -> None:
    place = page_of(document, root)
    if (pages / place).exists():
        return
    (pages / place).parent.mkdir(parents=True, exist_ok=True)
    linked: list[Path] = []

    def moved(link: re.Match[str]) -> str:
        there = Path(os.path.normpath(document.parent / link[2]))
        if not there.is_relative_to(root) or not there.exists():
            return link[0]
        if there.is_dir():
            there = there / "README.md" if (there / "README.md").is_file() else there
        if there.is_dir():
            # A folder of the tree is no page.
            return link[1]
        linked.append(there)
        return f"[{link[1]}]({os.path.relpath(page_of(there, root), place.parent)}{link[3] or ''})"

    text = _LINK.sub(moved, document.read_text())
    (pages / place).write_text(text)
    for file in linked:
        if file.suffix == ".md":
            _write(file, root, pages)
        else:
            copy = pages / page_of(file, root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
