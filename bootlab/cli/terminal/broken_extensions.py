"""What of a stranger's extension did not work, told on standard error when a verb ends, however it ends."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from bootlab.extensions.broken import forget_broken, noted


@contextmanager
def telling_broken() -> Iterator[None]:
    """Name each broken part of an extension once, when what is inside ends; nothing while a shell completes a word."""
    try:
        yield
    finally:
        if not any(name.endswith("_COMPLETE") and name.startswith("_BOOTLAB") for name in os.environ):
            _tell()
        forget_broken()


def _tell() -> None:
    broken = noted()
    if not broken:
        return
    from bootlab.report.parts.figures import visible

    for one in broken:
        print(visible(f"bootlab: warning: extension: {one.where}: {one.why}"), file=sys.stderr)
