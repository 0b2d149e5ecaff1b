"""The command line: one verb per file; the only place that prints or exits."""

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

from bootlab.errors import BootlabError, Interrupted


def main() -> NoReturn:
    """Run the command line and exit: 0 done, 1 a bad answer, 2 wrong use, 3 a tool is missing, 130 Ctrl-C."""
    signal.signal(signal.SIGTERM, _interrupt)
    debug = "--debug" in sys.argv or os.environ.get("BOOTLAB_DEBUG") == "1"
    try:
        from bootlab.cli.app import run

        sys.exit(run(sys.argv[1:]))
    except KeyboardInterrupt:
        if debug:
            raise
        _report(Interrupted("interrupted"))
    except BrokenPipeError:
        # The reader of our output is gone (`bootlab techniques | head`): not an error of anyone's.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except BootlabError as error:
        if debug:
            raise
        _report(error)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _report(error: BootlabError) -> NoReturn:
    first, *more = error.message.splitlines() or [""]
    print(f"bootlab: error: {first}", file=sys.stderr)
    for line in more:
        print(f"bootlab: error: {line}", file=sys.stderr)
    if error.hint:
        print(f"  hint: {error.hint}", file=sys.stderr)
    sys.exit(error.exit_code)
