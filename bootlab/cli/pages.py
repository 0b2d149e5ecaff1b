"""Writing a run's report page and collecting the consoles it shows."""

from collections.abc import Sequence
from pathlib import Path

from bootlab.experiments.store import Run
from bootlab.measure.record_files import store_error
from bootlab.report.console import Console, read_console


def write_page(run: Run, html: str, *, name: str = "report.html") -> Path:
    """Write `html` as a page of the run, its report by default, and return its path. Raises StoreError."""
    path = run.path / name
    try:
        path.write_text(html, encoding="utf-8")
    except OSError as error:
        raise store_error(path, error) from error
    return path


def consoles(boots: Sequence[tuple[str, str]]) -> list[Console]:
    """Return the consoles of (title, boot directory); one that is gone is left out."""
    found = []
    for title, directory in boots:
        path = Path(directory) / "console.log"
        if path.is_file():
            found.append(read_console(title, path.read_bytes()))
    return found
