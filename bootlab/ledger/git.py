"""git, as a ledger and a bisection ask it: one question a call, its answer as text."""

from pathlib import Path
from typing import Final

from bootlab.process import run

# What a repository has for its own users to run is not run for a question, nor for a checkout of ours.
_QUIET: Final = ("-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false")
_DEADLINE_S: Final = 900.0
"""A checkout of a kernel tree from a slow disk takes minutes."""


def run_git(folder: Path, *words: str) -> str:
    """Return what git says about the repository that holds a folder. Raises ProgramFailed, MissingTool."""
    return run(["git", *_QUIET, "-C", folder, *words], deadline_s=_DEADLINE_S, package="git").text.strip()


def last_line(text: str) -> str:
    """Return the last line of what git complains of: the reason."""
    return (text.strip().splitlines() or [""])[-1]
