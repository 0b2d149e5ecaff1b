"""Showing a run: its page is written, its JSON or its words are printed, and the exit code says what was found."""

from pathlib import Path

from rich.text import Text

from bootlab.cli.terminal.speech import err, out, print_json, print_text
from bootlab.errors import InputError, StoreError
from bootlab.experiments.store import Run
from bootlab.report.parts.view import Page, View


def show(run: Run, view: View, *, json: bool, to: Path | None = None) -> int:
    """Print a result and write its page, into the run or to the file `to`, and return the exit code.

    Raises InputError when `to` is given for a kind of run without a page, StoreError when it cannot be written.
    """
    if to is not None and view.page is None:
        raise InputError(f"--to: a run of bootlab {run.kind} has no page", hint="leave it out")
    path = write_page(run, view.page, to=to) if view.page is not None else None
    code = answer(view, json=json)
    if view.page is not None and not json:
        say_page(path, view.page.called)
    if view.more is not None:
        _show_more(run, view.more, json=json)
    return code


def answer(view: View, *, json: bool) -> int:
    """Print a result, and no page of it, and return the exit code."""
    if json:
        print_json(view.document)
    else:
        print_lines(view)
    return 0 if view.good else view.code


def print_lines(view: View) -> None:
    """Print what a terminal is given of a result."""
    for line in view.lines:
        out.print(line, soft_wrap=isinstance(line, str | Text))


def print_markdown(run: Run, view: View) -> int:
    """Print a run's tables in Markdown and return the exit code. Raises InputError for a kind of run without any."""
    if view.markdown is None:
        raise InputError(
            f"--markdown: a run of bootlab {run.kind} has no tables in Markdown",
            hint="most others have: boot, measure, compare, try, profile, audit; --json has all of it",
        )
    print_text(view.markdown())
    return 0 if view.good else view.code


def write_page(run: Run, page: Page, *, to: Path | None = None) -> Path | None:
    """Write a page of the run, or write it to the file `to`, and return its path.

    The run is on record without its page: where that cannot be written, this is said on stderr, and None returned.
    Raises StoreError when `to` cannot be written.
    """
    path = to or run.path / page.name
    html = page.make(to is not None)
    try:
        path.write_text(html, encoding="utf-8", errors="backslashreplace")
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


def _show_more(run: Run, view: View, *, json: bool) -> None:
    path = write_page(run, view.page) if view.page is not None else None
    if not json:
        out.print()
        print_lines(view)
        if view.page is not None:
            say_page(path, view.page.called)
