"""What one VMM is called, and how it is told from others by what it says."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Vmm:
    """A VMM. `version`: pattern of what it says to --version, whose first group is its version.

    `fault`: its own words in the document by which its API refuses a request, None where that is none of its
    documents; `oldest`: the oldest version that is known to answer so.
    """

    name: str
    version: re.Pattern[str]
    fault: Callable[[Any], str | None]
    oldest: str
