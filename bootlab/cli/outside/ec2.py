"""`bootlab ec2`: series of EC2 instances in ec2-boot-bench's form, and the end of instances that somebody left."""

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from bootlab.cli.measure import boot_series
from bootlab.cli.options.arguments import Json, Runs, SystemFile, naming, open_shop, open_store, open_system
from bootlab.cli.options.places import choose_place
from bootlab.cli.terminal.speech import err, out, print_json, print_text
from bootlab.clouds.ec2 import find_instances, open_ec2, terminate, try_launch
from bootlab.clouds.ec2_client import open_client
from bootlab.clouds.rent import estimate
from bootlab.errors import InputError
from bootlab.experiments.series import series_of
from bootlab.experiments.store import RunKind
from bootlab.measure.prepare import prepare
from bootlab.measure.record import Outcome
from bootlab.measure.record_files import write_json
from bootlab.report.boots.ec2_boot_bench import ec2_boot_bench_lines
from bootlab.report.parts.figures import visible
from bootlab.system import Ec2Instance

app = typer.Typer(
    name="ec2",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Instances of EC2: a series in ec2-boot-bench's form, and the end of what was left running (docs/outside.md).",
)

_DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")]


@app.callback()
def _ec2() -> None:
    """Instances of EC2 (docs/outside.md)."""


@app.command("bench")
def bench(
    system: SystemFile,
    number: Annotated[
        int,
        typer.Option(
            "-n", "--number", metavar="N", min=1, max=1000, help="Instances, one after the other; one more warms up."
        ),
    ] = 1,
    dry_run: _DryRun = False,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Launch instances one after the other, and print ec2-boot-bench's four lines for each.

    Says first what they cost at most, and stops above target.most_usd; --dry-run ends there, once EC2 has said whether
    it would launch one. The run is a series: report, compare and ledger take it. Exit code 1: not all were ready.
    """
    value = open_system(system, silent=json)
    asked = value.target
    if not isinstance(asked, Ec2Instance):
        raise InputError(f'{system}:target.kind: is not "ec2"', hint="bootlab measure takes a system of any kind")
    with naming(system):
        client = open_ec2(asked)
        cost = estimate(asked, number + 1, asked.lifetime_min * 60, client.meta.region_name)
        err.print(visible(cost.words), soft_wrap=True)
        if cost.usd is not None and cost.usd > asked.most_usd:
            raise InputError(f"target.most_usd: no more than {asked.most_usd:g} USD are allowed")
        if dry_run:
            words = try_launch(asked, client)
            if json:
                print_json({"boots": number + 1, "usd_at_most": cost.usd, "ec2": words})
            else:
                out.print(visible(f"EC2 says: {words} Nothing was launched."), soft_wrap=True)
            return 0
        prepared = prepare(open_shop(silent=True), value)
    run = open_store(runs).start(RunKind.MEASURE, value.name, {"system": str(system), "number": number, "seed": 1})
    with run.locked():
        seeds = [1 + index for index in range(number)]
        records = boot_series(prepared, seeds, run, chosen=choose_place(None, None), silent=json)
    result = series_of(run, records)
    write_json(run.result, result.model_dump(mode="json", by_alias=True))
    if json:
        print_json(result)
    for record in () if json else records:
        lines = ec2_boot_bench_lines(record)
        print_text("".join(f"{line}\n" for line in lines))
        if not lines:
            err.print(visible(f"{record.outcome.value}: {record.detail or 'without all marks'}"), soft_wrap=True)
    return 1 if any(record.outcome is not Outcome.READY for record in records) else 0


@app.command("reap")
def reap(
    region: Annotated[
        list[str] | None,
        typer.Option("--region", metavar="NAME", help="Where to look. [default: the standard chain's]"),
    ] = None,
    profile: Annotated[
        str | None, typer.Option("--profile", metavar="NAME", help="A profile of ~/.aws/config.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="All of bootlab's, whether their time is over or not; none may be in use.")
    ] = False,
    dry_run: _DryRun = False,
    json: Json = False,
) -> int:
    """Terminate instances that bootlab launched and nobody has ended: those whose time (target.lifetime_min) is over.

    They are found by the tag `bootlab = boot`, which each has from its first moment. Nothing else is touched.
    """
    rows: list[dict[str, Any]] = []
    now = datetime.now(UTC)
    places: list[str | None] = [*region] if region else [None]
    for name in places:
        client = open_client("ec2", name, profile)
        found = find_instances(client)
        ended = [one for one in found if every or one.is_over(now)]
        if not dry_run:
            terminate(client, [one.name for one in ended])
        for one in found:
            rows.append(
                {
                    "region": client.meta.region_name,
                    "instance": one.name,
                    "type": one.kind,
                    "state": one.state,
                    "launched": one.launched,
                    "until": one.until.isoformat() if one.until is not None else None,
                    "terminated": one in ended and not dry_run,
                }
            )
    if json:
        print_json({"instances": rows, "dry_run": dry_run})
        return 0
    for row in rows:
        what = "terminated" if row["terminated"] else "left: its time is not over" if not dry_run else "found"
        until = row["until"] or "unknown"
        out.print(visible(f"{row['region']}  {row['instance']}  {row['type']}  until {until}  {what}"), soft_wrap=True)
    if not rows:
        out.print("no instance of bootlab's is left")
    return 0
