"""Writing a run's report page and collecting the consoles it shows."""

from collections.abc import Sequence
from pathlib import Path

from bootlab.cli.terminal.speech import err, out
from bootlab.errors import StoreError
from bootlab.experiments.store import Run
from bootlab.report.parts.console import Console, read_console


def write_page(run: Run, html: str, *, name: str = "report.html", to: Path | None = None) -> Path | None:
    """Write `html` as a page of the run, its report by default, or to the file `to`, and return its path.

    The run is on record without its page: where that cannot be written, this is said on stderr, and None returned.
    Raises StoreError when `to` cannot be written.
    """
    path = to or run.path / name
    try:
        path.write_text(html, encoding="utf-8")
    except OSError as error:
        trouble = f"{path}: cannot write the page: {error.strerror or error}"
        if to is not None:
            raise StoreError(trouble, hint="--to names a file in a folder that you may write to") from error
        err.print(f"bootlab: warning: {trouble}", soft_wrap=True)
        err.print(f"  hint: bootlab report {run.path} --to FILE writes it elsewhere", soft_wrap=True)
        return None
    return path


def say_page(path: Path | None, what: str = "report") -> None:
    """Tell the user where a page is, if there is one."""
    if path is not None:
        out.print(f"{what}: {path}", soft_wrap=True)


def consoles(boots: Sequence[tuple[str, str]]) -> list[Console]:
    """Return the consoles of (title, boot directory); one that is gone is left out."""
    found = []
    for title, directory in boots:
        path = Path(directory) / "console.log"
        if path.is_file():
            found.append(read_console(title, path.read_bytes()))
    return found
