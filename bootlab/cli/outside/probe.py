"""`bootlab probe HOST[:PORT...]`: asks a machine from outside until it answers, and records when it did."""

import re
from enum import StrEnum
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from bootlab.cli.options.arguments import Json, Runs, open_shop, open_store
from bootlab.cli.terminal.showing import print_lines
from bootlab.cli.terminal.speech import err, out, print_json, print_text
from bootlab.errors import InputError
from bootlab.experiments.store import RunKind
from bootlab.measure import boot as one_boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import Outcome
from bootlab.measure.record_files import write_json
from bootlab.probing.questions import split_host
from bootlab.report.boots.view import boot_view
from bootlab.report.parts.figures import visible
from bootlab.system import System
from bootlab.system.complaint import complaints
from bootlab.system.value import name_from


class AddressFamily(StrEnum):
    """Which of a name's addresses is asked."""

    ANY = "any"
    IPV4 = "ipv4"
    IPV6 = "ipv6"


class By(StrEnum):
    """How ports are asked."""

    AUTO = "auto"
    RAW = "raw"
    CONNECT = "connect"


def probe(
    host: Annotated[
        str,
        typer.Argument(
            metavar="HOST[:PORT...]", help="Address or name, and its TCP ports: 192.0.2.7:22:80, [2001:db8::7]:22."
        ),
    ],
    banner: Annotated[
        list[int] | None, typer.Option("--banner", metavar="PORT", help="A port that says something by itself, as SSH.")
    ] = None,
    http: Annotated[
        list[str] | None,
        typer.Option("--http", metavar="PORT[/PATH]", help="Answered with a status from 200 to 399. [default path: /]"),
    ] = None,
    ping: Annotated[bool, typer.Option("--ping/--no-ping", help="ICMP's echo, too.")] = True,
    every: Annotated[
        float, typer.Option("--every", metavar="MS", min=1, max=60_000, help="Milliseconds between two questions.")
    ] = 10.0,
    patience: Annotated[
        float, typer.Option("--for", metavar="SECONDS", min=0.1, max=86_400, help="Seconds until it gives up.")
    ] = 120.0,
    until: Annotated[
        str, typer.Option("--until", metavar="MARK", help="It is up at this mark, as in port_22_open.")
    ] = "answered",
    power_on: Annotated[
        str | None, typer.Option("--power-on", metavar="COMMAND", help="Time 0 is the start of this, by sh -c.")
    ] = None,
    family: Annotated[AddressFamily, typer.Option("--family", help="Which of a name's addresses.")] = AddressFamily.ANY,
    by: Annotated[
        By, typer.Option("--by", help="Raw sockets where this user may open them (auto), or connections.")
    ] = By.AUTO,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Ask a machine from outside until it answers: its link, ping, ports closed and open, banner, HTTP.

    Each first answer is a mark of a record, in ms since the first question, or since --power-on; a port that refuses
    shows that the address is up. report, compare, measure and ledger take it as any other boot: docs/outside.md has
    the system file that says the same. Exit code 0: all was answered; 1: not all was.
    """
    name, ports = split_host(host)
    target: dict[str, Any] = {
        "kind": "host",
        "host": name,
        "ports": ports,
        "banners": tuple(banner or ()),
        "http": dict(_page(text) for text in http or ()),
        "ping": ping,
        "every_ms": every,
        "family": family.value,
        "by": by.value,
        "power_on": power_on,
    }
    system = _system(host, name, target, until, patience)
    prepared = prepare(open_shop(silent=json), system)
    run = open_store(runs).start(RunKind.BOOT, system.name, {"host": host, "seed": system.seed})
    if not json:
        err.print(f"asking {visible(host)} for up to {patience:g} s; Ctrl-C ends it")
    record = one_boot.boot(prepared, run.boot_directory("1"), on_line=None if json else _show)
    write_json(run.result, record.model_dump(mode="json", by_alias=True))
    if json:
        print_json(record)
    else:
        out.print()
        print_lines(boot_view(run, record))
    return 0 if record.outcome is Outcome.READY else 1


def _system(host: str, name: str, target: dict[str, Any], until: str, patience: float) -> System:
    given = {"name": name_from(name, "host"), "target": target, "booted": {"mark": until, "deadline_s": patience}}
    try:
        return System.model_validate(given)
    except ValidationError as error:
        found = [line.removeprefix("target.host.").removeprefix("target.") for line in complaints(error)]
        raise InputError("\n".join(f"probe {host}: {line}" for line in found), hint="bootlab probe --help") from error


def _page(text: str) -> tuple[str, str]:
    port, slash, path = text.partition("/")
    return port, f"{slash or '/'}{path}"


def _show(t_ns: int, line: str) -> None:
    said = re.match(r"bootlab: mark (\S+) ?(.*)", line)
    if said is not None:
        print_text(f"[{t_ns / 1e6:12.3f} ms] {said[1]:<20} {visible(said[2])}\n")
