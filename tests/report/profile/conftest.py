"""A long boot, whose profile is drawn in many parts."""

import pytest

from bootlab.profile.recorded.profile import Profile
from tests.report.long_boot import LongBoot


@pytest.fixture(scope="module")
def long_boot() -> Profile:
    return LongBoot(nodes=4000, length_ns=40_000_000, span_ns=2000).run()
