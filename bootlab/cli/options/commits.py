"""`--repo` and `--build`: commits of a user's repository, and what makes a system's files of one."""

import os
from pathlib import Path
from typing import Annotated, Final

import typer

from bootlab.errors import BootlabError
from bootlab.ledger.git import run_git

_OF_ANOTHER_REPOSITORY: Final = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
"""What git sets for a hook: a build in a checkout, and our own questions, would ask that repository instead."""

Repo = Annotated[
    Path | None, typer.Option("--repo", metavar="DIR", help="A folder of the repository. [default: the one here]")
]
Build = Annotated[
    str | None,
    typer.Option("--build", metavar="CMD", help="What makes the system's files of a commit, run in its checkout."),
]


def complete_revision(incomplete: str) -> list[str]:
    """Return the branches and tags of the repository here that begin with what was typed."""
    try:
        names = run_git(Path(), "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes")
    except BootlabError:
        return []
    return [name for name in names.split() if name.startswith(incomplete)]


def forget_hook() -> None:
    """Ask the repository that is named from now on, also where git runs this for a hook of another one."""
    for name in _OF_ANOTHER_REPOSITORY:
        os.environ.pop(name, None)
