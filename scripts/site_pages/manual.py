"""Manual pages, one for each command: bootlab(1), bootlab-boot(1), ..., made of the command line itself."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from bootlab import __version__
from scripts.site_pages.reference import commands

_ENVIRONMENT: Final = {
    "BOOTLAB_RUNS": "Where runs are kept, unless --runs says it; else ./bootlab-runs.",
    "BOOTLAB_CACHE": "Where downloads and builds are kept; else $XDG_CACHE_HOME/bootlab or ~/.cache/bootlab.",
}
_CODES: Final = "0 done, 1 a bad answer, 2 wrong use, 3 a tool is missing, 130 interrupted."


def write_manual(folder: Path) -> list[Path]:
    """Write a page for each command into a folder; returns them."""
    all_commands = list(commands())
    names = [name for name, _ in all_commands]
    written = []
    for name, command in all_commands:
        path = folder / f"{name.replace(' ', '-')}.1"
        path.write_text(manual_page(name, command, names))
        written.append(path)
    return written


def manual_page(name: str, command: Any, names: list[str]) -> str:
    """Return the page of one command, in man(7). `names`: of all commands, for those to see also."""
    told = [" ".join(part.split()) for part in (command.help or "").split("\n\n") if part.strip()]
    summary = told[0].partition(". ")[0].rstrip(".") if told else name
    title = name.replace(" ", "-")
    lines = [
        f'.TH "{title.upper()}" 1 "" "bootlab {__version__}" "bootlab"',
        ".SH NAME", f"{_escaped(title)} \\- {_escaped(summary)}",
        ".SH SYNOPSIS", f".B {_escaped(name)}", _escaped(_usage(name, command)),
        ".SH DESCRIPTION",
    ]  # fmt: skip
    for number, part in enumerate(told):
        lines += [*([".PP"] if number else []), _escaped(part)]
    options = list(_options(name, command))
    if options:
        lines.append(".SH OPTIONS")
        lines += [line for option in options for line in option]
    below = [other for other in names if other.startswith(f"{name} ") and other.count(" ") == name.count(" ") + 1]
    lines += [".SH EXIT STATUS", _escaped(_CODES), ".SH ENVIRONMENT"]
    for variable, words in _ENVIRONMENT.items():
        lines += [".TP", f".B {variable}", _escaped(words)]
    also = below or [name.rpartition(" ")[0]]
    lines += [".SH SEE ALSO", ", ".join(f"\\fB{_escaped(other.replace(' ', '-'))}\\fR(1)" for other in also if other)]
    return "\n".join(lines) + "\n"


def _usage(name: str, command: Any) -> str:
    context = command.context_class(command, info_name=name)
    return " ".join(command.collect_usage_pieces(context))


def _options(name: str, command: Any) -> Iterator[list[str]]:
    context = command.context_class(command, info_name=name)
    for one in command.get_params(context):
        record = one.get_help_record(context)
        if record is not None:
            spelled, words = (" ".join(part.split()) for part in record)
            yield [".TP", f".B {_escaped(spelled)}", _escaped(words) or "\\&"]


def _escaped(text: str) -> str:
    # A line must not begin with a dot or a quote, and a dash is a minus.
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text[:1] in (".", "'") else text
