"""Manual pages, one for each command: bootlab(1), bootlab-boot(1), ..., made of the command line itself."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from bootlab import __version__
from scripts.site_pages.reference import commands

PACKAGED_VERSION: Final = "@VERSION@"
"""Stands for the version in the pages that lie in debian/man: debian/rules and setup.py write their packages' there."""
_ENVIRONMENT: Final = {
    "BOOTLAB_RUNS": "Where runs are kept, unless --runs says it; else ./bootlab-runs.",
    "BOOTLAB_CACHE": "Where downloads and builds are kept; else $XDG_CACHE_HOME/bootlab or ~/.cache/bootlab.",
}
_CODES: Final = "0 done, 1 a bad answer, 2 wrong use, 3 a tool is missing, 130 interrupted."
_EXAMPLES: Final = (
    "bootlab doctor",
    "bootlab examples debian-cloud --copy own",
    "bootlab boot own/debian-cloud.toml",
)
_FILES: Final = {
    "/usr/share/doc/bootlab": "Of the Debian package: the documents that these pages name, as in docs/systems.md.",
    "~/.cache/bootlab/python": (
        "Of the Debian package: the Python libraries that a user's first call installs, by hash, from the Python "
        "Package Index."
    ),
}


def write_manual(folder: Path, version: str = __version__) -> list[Path]:
    """Write a page for each command into a folder; returns them."""
    all_commands = dict(commands())
    written = []
    for name in all_commands:
        path = folder / f"{name.replace(' ', '-')}.1"
        path.write_text(manual_page(name, all_commands, version))
        written.append(path)
    return written


def manual_page(name: str, all_commands: dict[str, Any], version: str = __version__) -> str:
    """Return the page of one command, in man(7). `all_commands`: name -> command, for those below it."""
    command = all_commands[name]
    told = _paragraphs(command)
    below = [one for one in all_commands if one.startswith(f"{name} ") and one.count(" ") == name.count(" ") + 1]
    lines = [
        f'.TH "{_title(name).upper()}" 1 "" "bootlab {version}" "bootlab"',
        ".SH NAME", f"{_escaped(_title(name))} \\- {_escaped(_summary(told, name))}",
        ".SH SYNOPSIS", f".B {_escaped(name)}", _escaped(_usage(name, command)),
        ".SH DESCRIPTION",
    ]  # fmt: skip
    for number, part in enumerate(told):
        lines += [*([".PP"] if number else []), _escaped(part)]
    options = list(_options(name, command))
    if options:
        lines.append(".SH OPTIONS")
        lines += [line for option in options for line in option]
    if below:
        lines.append(".SH COMMANDS")
        for one in below:
            lines += [".TP", _reference(one), _escaped(_summary(_paragraphs(all_commands[one]), one))]
    lines += [".SH EXIT STATUS", _escaped(_CODES)]
    lines += _listed("ENVIRONMENT", _ENVIRONMENT)
    if " " not in name:
        lines += _listed("FILES", _FILES)
        lines += [".SH EXAMPLES", ".nf", *map(_escaped, _EXAMPLES), ".fi"]
    else:
        lines += [".SH SEE ALSO", _reference(name.rpartition(" ")[0])]
    return "\n".join(lines) + "\n"


def _title(name: str) -> str:
    return name.replace(" ", "-")


def _reference(name: str) -> str:
    return f"\\fB{_escaped(_title(name))}\\fR(1)"


def _paragraphs(command: Any) -> list[str]:
    return [" ".join(part.split()) for part in (command.help or "").split("\n\n") if part.strip()]


def _summary(told: list[str], name: str) -> str:
    return told[0].partition(". ")[0].rstrip(".") if told else name


def _listed(heading: str, rows: dict[str, str]) -> list[str]:
    lines = [f".SH {heading}"]
    for what, words in rows.items():
        lines += [".TP", f".B {_escaped(what)}", _escaped(words)]
    return lines


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
    # A line must not begin with a dot or a quote, and a dash is a minus; a tilde alone may become an accent.
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("~", "\\(ti")
    return f"\\&{text}" if text[:1] in (".", "'") else text
