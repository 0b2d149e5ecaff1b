"""`bootlab watch PORT...`: console lines with the time at which each left the machine, as they come."""

import codecs
import re
from pathlib import Path
from typing import Annotated

import typer

from bootlab.cli.watch.loop import Outputs, Sent, is_recording_file, port_name, watch_lines, watch_recording
from bootlab.errors import InputError
from bootlab.measure.watch import WatchRequest
from bootlab.targets.serial.port import LineSettings, find_ports

_NAMED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)=(.+)")
_DAY = "%H:%M:%S.%f"
_FLOWS = ("none", "xonxoff", "rtscts")


def complete_port(incomplete: str) -> list[str]:
    """Return this machine's serial ports, and url schemes, that begin with what was typed."""
    known = [port.split(" ", 1)[0] for port in find_ports()]
    return [port for port in [*known, "rfc2217://", "socket://", "hwgrep://"] if port.startswith(incomplete)]


def complete_flow(incomplete: str) -> list[str]:
    """Return the kinds of flow control that begin so, for the shell's completion."""
    return [flow for flow in _FLOWS if flow.startswith(incomplete)]


def watch(
    port: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PORT...",
            help="A tty or pty, a pipe, a socket, - (standard input), a url (rfc2217://, socket://, hwgrep://), or a "
            "recording; NAME=PORT names it.",
            autocompletion=complete_port,
        ),
    ] = None,
    baud: Annotated[
        int | None,
        typer.Option(
            "--baud",
            "-b",
            min=50,
            metavar="N",
            help="Line rate, any. Given, it also holds for what is behind a pty, "
            "a pipe or a socket, whose bytes otherwise take no time. [default: 115200 on a tty]",
        ),
    ] = None,
    line_format: Annotated[
        str, typer.Option("--format", metavar="8N1", help="Data bits, parity (N, E, O, M, S), stop bits.")
    ] = "8N1",
    flow: Annotated[
        str,
        typer.Option(
            "--flow", metavar="HOW", help="Flow control: none, xonxoff or rtscts.", autocompletion=complete_flow
        ),
    ] = "none",
    zero: Annotated[
        str | None,
        typer.Option("--zero", "-m", metavar="REGEX", help="Time 0 is the first byte of each line with this."),
    ] = None,
    from_start: Annotated[
        bool, typer.Option("--from-start", help="Time 0 is the start of the watch. [default: the first byte]")
    ] = False,
    until: Annotated[str | None, typer.Option("--until", metavar="REGEX", help="End at this, in mid-line too.")] = None,
    for_s: Annotated[float | None, typer.Option("--for", min=0.001, metavar="S", help="End after S seconds.")] = None,
    idle_s: Annotated[
        float | None, typer.Option("--idle", min=0.001, metavar="S", help="End when silent for S seconds.")
    ] = None,
    mark: Annotated[
        list[str] | None,
        typer.Option(
            "--mark", "-i", metavar="NAME=REGEX", help="Say when this came first, in mid-line too. Repeatable."
        ),
    ] = None,
    silence_s: Annotated[
        float, typer.Option("--silence", min=0.0, metavar="S", help="Say when nothing came for S seconds; 0: never.")
    ] = 10.0,
    time_format: Annotated[
        str,
        typer.Option("--time", metavar="HOW", help="elapsed, none, day (time of day), or a strftime format for that."),
    ] = "elapsed",
    delta: Annotated[bool, typer.Option("--delta/--no-delta", help="Show the time since the line before.")] = True,
    cr: Annotated[bool, typer.Option("--cr", help="A carriage return ends a line as well.")] = False,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Also write the lines there; %-words of strftime are filled in."
        ),
    ] = None,
    rotate_s: Annotated[
        float | None, typer.Option("--rotate", min=0.1, metavar="S", help="Begin a new --output every S seconds.")
    ] = None,
    append: Annotated[bool, typer.Option("--append", help="Go on with --output and --raw if they exist.")] = False,
    raw: Annotated[
        Path | None, typer.Option("--raw", metavar="FILE", help="Also write the bytes there as they came, one port.")
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option("--record", metavar="FILE", help="Also write a recording, which watch takes as a PORT."),
    ] = None,
    send: Annotated[
        str | None,
        typer.Option("--send", "-c", metavar="TEXT", help=r"Send this first, and a return; \r, \n, \xNN are known."),
    ] = None,
    answer: Annotated[
        bool, typer.Option("--answer", help="Print only what came between --send's echo and --until, without times.")
    ] = False,
    typed: Annotated[bool, typer.Option("--type", help="Send each line typed here, and a return.")] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Start anew after the end, and when a line is gone, until Ctrl-C.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no lines, only marks and notices.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line (docs/formats.md).")] = False,
) -> int:
    """Stamp what comes over serial lines, each line with the time at which its first byte left the machine.

    The clock is the host's monotonic one, which no change of the date moves, and the line's own time for each byte is
    taken off. Exit code 0: ended as asked; 1: --until never came, or a line was lost.
    """
    settings = LineSettings(baud, line_format, flow)
    settings.pyserial()
    places = _named(port or [])
    first = next(iter(places.values()))
    asked = WatchRequest(
        zero=_optional("--zero", zero),
        until=_optional("--until", until),
        marks=_marks(mark or []),
        for_ns=_ns(for_s),
        idle_ns=_ns(idle_s),
        silence_ns=_ns(silence_s or None),
        from_start=from_start,
        cr=cr,
    )
    outputs = Outputs(
        time=_DAY if time_format == "day" else time_format,
        delta=delta,
        json=json,
        quiet=quiet,
        answer_to=send if answer else None,
        text=output,
        rotate_s=rotate_s,
        append=append,
        raw=raw,
        recording=record,
    )
    _expect_flow(flow)
    _refuse_contradictions(outputs, len(places), send, until, answer, again)
    if is_recording_file(first):
        if len(places) > 1 or send is not None or typed or again:
            raise InputError(f"{first}: a recording is watched alone, and takes no --send, --type or --again")
        return watch_recording(Path(first), asked, outputs)
    if typed and (len(places) > 1 or "-" in places.values()):
        raise InputError("--type sends what is typed to one port, which cannot be standard input")
    return watch_lines(places, settings, asked, outputs, Sent(_bytes(send), typed), again=again)


def _named(ports: list[str]) -> dict[str, str]:
    """Return name -> place, in the order given. Raises InputError for two of one name."""
    if not ports:
        found = find_ports()
        known = f"ports here: {', '.join(found)}" if found else "this machine has no serial port"
        raise InputError("PORT is missing", hint=f"{known}; bootlab watch --help lists what else can be watched")
    names, places = [], []
    for port in ports:
        found_name = _NAMED.fullmatch(port)
        place = found_name[2] if found_name else port
        name = found_name[1] if found_name else port_name(place)
        names.append("stdin" if name == "-" else name)
        places.append(place)
    for twice in (name for name in names if names.count(name) > 1):
        raise InputError(f"two ports are called {twice}", hint="name them: left=/dev/ttyUSB0 right=/dev/ttyUSB1")
    return dict(zip(names, places, strict=True))


def _expect_flow(flow: str) -> None:
    if flow not in _FLOWS:
        raise InputError(f"--flow {flow}: expected none, xonxoff or rtscts")


def _refuse_contradictions(
    outputs: Outputs, ports: int, send: str | None, until: str | None, answer: bool, again: bool
) -> None:
    if outputs.raw is not None and ports > 1:
        raise InputError("--raw keeps the bytes of one port", hint="--record keeps those of several, and their times")
    if outputs.rotate_s is not None and "%" not in (outputs.text or ""):
        raise InputError("--rotate needs names that differ", hint="--output 'console-%Y%m%d-%H%M%S.log'")
    if answer and (send is None or until is None):
        raise InputError("--answer needs --send (the command) and --until (the prompt after it)")
    if again and outputs.recording is not None:
        raise InputError("--record keeps one watch, and --again makes many", hint="--raw --append keeps all bytes")
    if answer and outputs.json:
        raise InputError("--answer prints bare lines, and --json objects: give one of them")


def _pattern(option: str, text: str) -> re.Pattern[bytes]:
    try:
        return re.compile(text.encode())
    except (re.error, OverflowError, RecursionError) as error:
        raise InputError(f"{option} {text!r}: not a regular expression: {error}") from error


def _optional(option: str, text: str | None) -> re.Pattern[bytes] | None:
    return None if text is None else _pattern(option, text)


def _marks(texts: list[str]) -> tuple[tuple[str, re.Pattern[bytes]], ...]:
    marks = []
    for text in texts:
        found = _NAMED.fullmatch(text)
        if found is None:
            raise InputError(f"--mark {text!r}: expected NAME=REGEX, as in login='login:'")
        marks.append((found[1], _pattern("--mark", found[2])))
    return tuple(marks)


def _ns(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1e9)


def _bytes(text: str | None) -> bytes:
    if text is None:
        return b""
    try:
        data = codecs.escape_decode(text.encode())[0]
    except ValueError as error:
        raise InputError(f"--send {text!r}: {error}") from error
    assert isinstance(data, bytes)
    return data if data.endswith((b"\r", b"\n")) else data + b"\r"
