"""Known issues: what is known to cost time, what it costs here, since when, and who mended it.

`known-issues.toml` lies in the ledger's folder and is written by people. Each is tied to a technique that removes it,
or to a function that it is spent in, so every profile of a later commit says anew what it costs: a table that
nobody has to keep up.
"""

import json
import re
import tempfile
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, ValidationError, model_validator

from bootlab.document import Document
from bootlab.errors import InputError, StoreError
from bootlab.findings.analysis import Analysis
from bootlab.kept_file import read_kept, why_damaged
from bootlab.techniques.model.catalogue import load_catalogue

NAME: Final = "known-issues.toml"
_EXAMPLE: Final = 'an issue is [[issue]] with title = "..." and technique = "..." or function = "..."; docs/ledger.md'


class IssueStatus(StrEnum):
    """What became of an issue."""

    OPEN = "open"
    FIXED = "fixed"
    ACCEPTED = "accepted"
    """It stays: what it costs is worth it."""


class KnownIssue(Document):
    """One issue, as people wrote it."""

    title: Annotated[str, Field(min_length=1, max_length=200)]
    system: str = ""
    """The one that it is an issue of; empty for every system of the ledger."""
    technique: str = ""
    """What would remove it; its cost is what the advice of a profile says."""
    function: str = ""
    """Where it is spent; its cost is the function's, and all that it calls."""
    since: str = ""
    """A commit, a version or a date."""
    status: IssueStatus = IssueStatus.OPEN
    fixed_by: str = ""
    """Who or which commit mended it."""
    saved_ms: Annotated[float | None, Field(ge=0, le=1e9)] = None
    """What mending it is said to have saved."""
    link: str = ""

    @model_validator(mode="after")
    def _tied_to_one_thing(self) -> "KnownIssue":
        if self.technique and self.function:
            raise ValueError("technique and function: one of them says what it costs")
        if self.status is IssueStatus.OPEN and not self.technique and not self.function:
            raise ValueError("an open issue is tied to a technique or a function, which says what it costs")
        return self


class _IssuesFile(Document):
    issue: list[KnownIssue] = []


def read_issues(folder: Path) -> list[KnownIssue]:
    """Return the known issues of a ledger; none where it has no such file. Raises InputError for a mistake in it."""
    path = folder / NAME
    try:
        issues = _IssuesFile.model_validate(tomllib.loads(read_kept(path).removeprefix("\ufeff"))).issue
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    except ValidationError as error:
        raise InputError(f"{path}:{why_damaged(error)}", hint=_EXAMPLE) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not TOML: {why_damaged(error)}", hint=_EXAMPLE) from error
    catalogue = {one.name for one in load_catalogue()}
    systems: dict[str, set[str]] = {}
    for number, one in enumerate(issues):
        if one.technique and one.technique not in catalogue:
            raise InputError(
                f"{path}:issue.{number}.technique: no technique {one.technique}", hint="bootlab techniques"
            )
        others = systems.setdefault(one.title, set())
        # Costs go by title: one of every system is one of each.
        if one.system in others or (others and "" in {one.system, *others}):
            raise InputError(f"{path}:issue.{number}.title: there are two of {one.title!r}")
        others.add(one.system)
    return issues


def issues_of(system: str, issues: list[KnownIssue]) -> list[KnownIssue]:
    """Return the issues of one system, those of every system among them."""
    return [one for one in issues if one.system in ("", system)]


def cost_of_issues(issues: list[KnownIssue], analysis: Analysis) -> dict[str, int]:
    """Return title -> ns up to ready in a profile; 0 for what it does not spend any more.

    An issue that was mended is measured as well: it may come back.
    """
    by_technique = {
        one.technique: one.estimated_ns
        for item in analysis.advice.items
        for one in (*([item.remedy] if item.remedy is not None else []), *item.instead)
    }
    by_function = {one.name: one.total_elapsed_ns for one in analysis.tree.top_functions()}
    return {
        one.title: by_technique.get(one.technique, 0) if one.technique else by_function.get(one.function, 0)
        for one in issues
        if one.technique or one.function
    }


def not_seen(issues: list[KnownIssue], analysis: Analysis) -> list[KnownIssue]:
    """Return the issues whose function did not run in a profile: misspelled, or gone."""
    ran = {one.name for one in analysis.tree.top_functions()}
    return [one for one in issues if one.function and one.function not in ran]


def read_dated_list(text: str, system: str) -> tuple[list[KnownIssue], list[str]]:
    """Return the mended issues of a dated list as FreeBSD keeps one, and its lines that are none.

    `2021-06-21 (524260db7683, by cperciva): Tell gptboot to skip its 3 second wait. ... by 3000 ms in EC2.`
    """
    found, left = [], []
    for line in text.splitlines():
        words = _DATED.fullmatch(line.strip())
        title = re.split(r"(?<=[.!?])\s", words["said"].strip())[0].rstrip(".") if words is not None else ""
        if words is None or not title:
            if line.strip():
                left.append(line.strip())
            continue
        said = words["said"].strip()
        saved = _SAVED.search(said)
        found.append(
            KnownIssue(
                title=title[:200],
                system=system,
                status=IssueStatus.FIXED,
                fixed_by=f"{words['commit']} by {words['by']}, {words['date']}",
                saved_ms=float(saved[1]) if saved is not None else None,
            )
        )
    return found, left


def add_issues(folder: Path, issues: list[KnownIssue]) -> None:
    """Add issues to the file of a ledger, which is read again first: nothing is written that would spoil it.

    Raises InputError for a file that they cannot be added to, StoreError where it cannot be written.
    """
    path = folder / NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        said = read_kept(path) if path.exists() else ""
        whole = said + "".join(f"\n{issue_toml(one)}" for one in issues)
        with tempfile.TemporaryDirectory() as scratch:
            (Path(scratch) / NAME).write_text(whole, encoding="utf-8")
            try:
                read_issues(Path(scratch))
            except InputError as error:
                hint = "write the issues there as [[issue]] tables"
                raise InputError(f"{path}: nothing can be added to it: {error.message}", hint=hint) from error
        beside = path.with_suffix(".new")
        beside.write_text(whole, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}") from error


def issue_toml(one: KnownIssue) -> str:
    """Return an issue as a table of the file."""
    said: Mapping[str, object] = one.model_dump(mode="json", exclude_defaults=True)
    return "[[issue]]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in said.items())


_DATED: Final = re.compile(
    r"(?:[-*] )?(?P<date>\d{4}-\d\d-\d\d) \((?P<commit>[^,()]{1,80}), by (?P<by>[^()]{1,80})\): (?P<said>.{1,2000})"
)
_SAVED: Final = re.compile(r"by (?:up to |an average of )?(?:~ ?)?(\d{1,9}(?:\.\d{1,3})?) ms", re.IGNORECASE)


def _toml(value: object) -> str:
    if isinstance(value, str):
        # What a basic string of TOML escapes is what JSON does, but for DEL.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)
