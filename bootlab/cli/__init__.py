"""The command line: one verb per file; the only place that prints or exits."""

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

from bootlab.cli.terminal.standard_streams import guard_streams
from bootlab.errors import BootlabError, Interrupted, is_interruption


def main() -> NoReturn:
    """Run the command line and exit: 0 done, 1 a bad answer, 2 wrong use, 3 a tool is missing, 130 Ctrl-C."""
    signal.signal(signal.SIGTERM, _interrupt)
    debug = "--debug" in sys.argv or os.environ.get("BOOTLAB_DEBUG") == "1"
    try:
        guard_streams()
        from bootlab.cli.app import run

        code = run(sys.argv[1:])
        sys.stdout.flush()
        sys.exit(code)
    except KeyboardInterrupt:
        if debug:
            raise
        _report(Interrupted("interrupted"))
    except BootlabError as error:
        if debug:
            raise
        _report(error)
    except ValueError as error:
        if debug or not is_interruption(error):
            raise
        _report(Interrupted("interrupted"))


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _report(error: BootlabError) -> NoReturn:
    from bootlab.report.parts.figures import visible

    # What is named there may come from a guest or a stranger's file: none of it may steer the terminal.
    for line in error.message.splitlines() or [""]:
        print(f"bootlab: error: {visible(line)}", file=sys.stderr)
    if error.hint:
        print(f"  hint: {visible(error.hint)}", file=sys.stderr)
    sys.exit(error.exit_code)
