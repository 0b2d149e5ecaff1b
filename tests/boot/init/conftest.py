"""The programs that bootlab-init is tested with, compiled once for all tests of this folder."""

import platform
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.programs import guest
from bootlab.build.programs.static_program import compile_static

WORKER = Path(__file__).parent / "units" / "worker.c"


@pytest.fixture(scope="session")
def programs() -> dict[str, Path]:
    """Path in the root -> file on this host: bootlab-init, bootlab-ctl, and the worker that units run."""
    cache, arch = Cache.default(), platform.machine()
    return {**guest.compile_runtime(arch, cache), "/bin/worker": compile_static(WORKER, arch, cache)}
