"""The tutorials of docs/tutorials, followed to the letter from their own beginning, each in a copy of this checkout.

The home is empty, and the cache is the user's: kernels that were built once are there. `make tutorial-test` is the same
with an empty cache. Which commands no test runs is in tests/tutorials/test_steps.py.
"""

from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from tests.tutorials.follow import follow, summary
from tests.tutorials.promises import check_promises
from tests.tutorials.steps import Tutorial, tutorials

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]


@pytest.mark.parametrize("tutorial", tutorials(), ids=lambda tutorial: tutorial.name)
def test_a_tutorial_keeps_what_it_promises(tutorial: Tutorial, cache: Cache, tmp_path: Path) -> None:
    reader = follow(tutorial, tmp_path / "home", cache.root)
    print(summary(tutorial))
    assert reader.ran == [command.line for command in tutorial.commands if not command.is_aside]
    check_promises(tutorial.name, reader.folder, reader.said)
