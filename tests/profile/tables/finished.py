"""A profile that a test wrote, parsed."""

from typing import Any

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.reader import parse_profile

IDLE = "swapper/0-0;start_kernel;do_idle"


def finish(writer: Any) -> Profile:
    return parse_profile(writer.end(), writer.functions, 0)
