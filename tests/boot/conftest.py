"""What real boots share: a cache that outlives the tests, and systems to boot."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord
from bootlab.system import System, read_system

EXAMPLES = Path(__file__).parents[2] / "examples"

Boot = Callable[[System], BootRecord]


@pytest.fixture(scope="session")
def cache() -> Cache:
    """The user's cache: packages are fetched and programs compiled once a machine."""
    return Cache.default()


@pytest.fixture
def run_boot(cache: Cache, tmp_path: Path) -> Boot:
    """Boot a system into a directory of this test."""
    count = iter(range(100))

    def run(system: System) -> BootRecord:
        directory = tmp_path / f"boot-{next(count)}"
        directory.mkdir()
        return boot(prepare(system, cache), directory)

    return run


@pytest.fixture
def fast_system() -> System:
    """The Debian 12 example without the kernel's self-tests: a real boot, at a third of the cost."""
    return read_system(EXAMPLES / "debian-cloud.toml").with_cmdline("cryptomgr.notests")
