"""`python -m tests.tables NODEID...`: runs tests of real boots and prints the tables that they hand over, alone.

Words as NAME=VALUE before them are for the environment, all others pytest's. What pytest and the tests print is on
stderr. Where one fails, is skipped or hands over nothing, no table is printed and the exit status is 1: a published
table (docs/published.json) stays as it was.
"""

import io
import os
import re
import sys
from collections.abc import Sequence
from itertools import takewhile
from typing import Final

import pytest

from tests.handed_over import HandedOver, text_of

_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9_]*=")


def main(words: Sequence[str]) -> int:
    """Run the tests that `words` name, and print their tables. Returns the exit status."""
    variables = [*takewhile(_VARIABLE.match, words)]
    words = words[len(variables) :]
    if not words:
        print("usage: python -m tests.tables [NAME=VALUE]... NODEID... [OPTION OF PYTEST]...", file=sys.stderr)
        return 2
    os.environ.update({name: value for name, _, value in (one.partition("=") for one in variables)})
    # Programs that tests start write where this process does.
    printed = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    # And in the order of what happened, though it be no terminal.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    over = HandedOver()
    faults = over.find_faults(int(pytest.main(["-s", "-p", "no:cacheprovider", *words], plugins=[over])))
    for fault in faults:
        print(f"tables: error: {fault}", file=sys.stderr)
    if not faults:
        with os.fdopen(printed, "w", encoding="utf-8") as file:
            file.write(f"{text_of(over.handed)}\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
