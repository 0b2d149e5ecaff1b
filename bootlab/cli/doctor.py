"""`bootlab doctor`: every tool and device, found or not, and what to type to get it."""

from bootlab.cli.options.arguments import Json, open_cache
from bootlab.cli.terminal.showing import answer
from bootlab.measure.host.toolbox import examine
from bootlab.report.lists import tools_view


def doctor(json: Json = False) -> int:
    """List every tool and device bootlab uses: found or not, version, purpose, and how to get it.

    Exit code 3 when something that every boot needs is missing.
    """
    return 3 if answer(tools_view(examine(open_cache())), json=json) else 0
