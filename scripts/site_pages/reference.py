"""The reference of verbs, made of the command line itself: every verb's help, as a terminal shows it."""

from collections.abc import Iterator
from typing import Any

import typer

from bootlab.cli.app import app

WIDTH = 100


def commands() -> Iterator[tuple[str, Any]]:
    """Yield every command as it is typed, `bootlab` first, with what the command line knows of it."""
    yield from _below("bootlab", typer.main.get_command(app))


def help_of(name: str, command: Any) -> str:
    """Return what --help prints of a command."""
    context = command.context_class(command, info_name=name, max_content_width=WIDTH, terminal_width=WIDTH)
    return str(command.get_help(context)).rstrip()


def verbs_page() -> str:
    """Return the page of all verbs."""
    lines = ["# Verbs", "", "What `--help` says of each; `bootlab --install-completion` completes them.", ""]
    for name, command in commands():
        lines += [f"## {name}", "", "```text", help_of(name, command), "```", ""]
    return "\n".join(lines)


def _below(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield name, command
    if hasattr(command, "list_commands"):
        context = command.context_class(command, info_name=name)
        for verb in command.list_commands(context):
            yield from _below(f"{name} {verb}", command.get_command(context, verb))
