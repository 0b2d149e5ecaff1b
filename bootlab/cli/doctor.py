"""`bootlab doctor`: every tool and device, found or not, and what to type to get it."""

from dataclasses import asdict

from bootlab.cli.options.arguments import Json, open_cache
from bootlab.cli.terminal.speech import out, print_json
from bootlab.measure.host.toolbox import examine


def doctor(json: Json = False) -> int:
    """List every tool and device bootlab uses: found or not, version, purpose, and how to get it.

    Exit code 3 when something that every boot needs is missing.
    """
    findings = examine(open_cache())
    if json:
        print_json({"schema": "bootlab.doctor/1", "tools": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            state = "found  " if finding.found else ("MISSING" if finding.needed else "absent ")
            out.print(f"{state}  {finding.name:<20} {finding.version}", soft_wrap=True)
            out.print(f"         {finding.purpose}", style="dim", soft_wrap=True)
            if finding.hint:
                out.print(f"         to get it: {finding.hint}", soft_wrap=True)
    return 3 if any(finding.needed and not finding.found for finding in findings) else 0
