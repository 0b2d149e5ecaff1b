"""Kinds of tests, the time they take, and the rule that a missing tool is no excuse where everything can be installed.

BOOTLAB_REQUIRE (set in CI) names what must be there, as words of skip reasons separated by commas, or `all`: a test
that skips for want of it fails instead. Hardware cannot be installed and packages roll, so a test marked `hardware` or
`rolling` may always skip; so may one that would begin behind `--begin-until`, and the run's end names it. A mirror that
contradicts its own signature says nothing about this tree: tests that need what it does not give skip, and are counted;
more than a few of them fail all the same.
"""

import asyncio
import os
import signal
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from bootlab.targets.machine_process import make_socket_folder
from bootlab.targets.qemu.argv import qemu_argv
from bootlab.targets.qemu.session import QemuSession
from bootlab.targets.qemu.wiring import PluginFiles, Wiring
from bootlab.targets.target import ConsoleBytes, Prepared
from tests.handed_over import HandedOver, Table, print_table
from tests.time_by_file import NO_TIME, TimeByFile

READY = b"bootlab: mark ready"
MIRROR_CHANGES = "Mirror sync in progress?"
"""What apt says of a mirror whose package lists are not those that it has signed."""
MOST_WITHOUT_MIRROR = 12
"""So many tests of one run may skip for that: the promises need three architectures of one suite besides the host's."""

KINDS = {
    "boot": "boots a real guest under QEMU",
    "network": "fetches something from a package registry",
    "kernel": "needs a kernel image of Debian, fetched into the cache",
    "serial": "reads a serial line in real time, for longer than a unit test may take",
    "web": "opens the report in a real browser",
    "bench": "measures cost, so it wants a quiet machine",
    "hardware": "needs a device that no package brings, such as a working /dev/kvm; may skip anywhere",
    "rolling": "compares with figures on record for the same packages; skips where those have rolled, and says its own",
    "promise(name, ...)": "keeps these promises of CONTRIBUTING.md's table, so `make boot-test` runs it",
}


WITHOUT_MIRROR = "Debian's mirror contradicts itself"


class MirrorSkips:
    """Lets so many tests of a run skip for the mirror and no more, on whatever worker they ran."""

    def __init__(self) -> None:
        """Begin with none."""
        self.count = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Make the next one a failure, before anything else counts it."""
        if report.skipped and WITHOUT_MIRROR in str(report.longrepr):
            self.count += 1
            if self.count > MOST_WITHOUT_MIRROR:
                report.outcome = "failed"
                report.longrepr = f"{report.longrepr}\nmore than {MOST_WITHOUT_MIRROR} tests of this run skipped so"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that say how long a run should take, and may."""
    parser.addoption("--budget", type=float, metavar="MINUTES", help="hold the run's time against this at its end")
    parser.addoption("--begin-until", type=float, metavar="MINUTES", help="leave out, and name, what begins later")


def pytest_configure(config: pytest.Config) -> None:
    """Register the kinds, each a marker, time the files, and let Ctrl-C work in the processes that tests start.

    A shell's background job, as a CI run may be, ignores Ctrl-C and hands that on to every child.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name, meaning in KINDS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    config.pluginmanager.register(TimeByFile(config.getoption("--budget"), config.getoption("--begin-until")))
    if not hasattr(config, "workerinput"):  # a worker of pytest-xdist sees only its part of the tests
        config.pluginmanager.register(MirrorSkips())


def is_required(reason: str) -> bool:
    """Return whether a test that skips for this reason has to fail instead."""
    wanted = os.environ.get("BOOTLAB_REQUIRE", "").lower().split(",")
    return "all" in wanted or any(word.strip() in reason.lower() for word in wanted if word.strip())


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.outcome != "skipped" or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if is_required(reason) and NO_TIME not in reason:
        report.outcome = "failed"
        report.longrepr = f"{reason}\nBOOTLAB_REQUIRE={os.environ['BOOTLAB_REQUIRE']}: this may not be skipped here"


def _skip_without_mirror(item: pytest.Item, report: pytest.TestReport) -> None:
    (line,) = [line for line in report.longreprtext.splitlines() if MIRROR_CHANGES in line][-1:]
    reason = f"{WITHOUT_MIRROR}: {line.removeprefix('E').strip()}"
    report.outcome = "skipped"
    report.longrepr = (str(item.path), item.location[1] or 0, f"Skipped: {reason}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn the skip of a required test into a failure."""
    report = yield
    if report.failed and MIRROR_CHANGES in report.longreprtext:
        _skip_without_mirror(item, report)
        return report
    if not any(item.get_closest_marker(name) for name in ("hardware", "rolling")):
        _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turn the skip of a whole required file, such as `importorskip`, into a failure."""
    report = yield
    _refuse_skip(report)
    return report


@pytest.fixture(scope="session")
def table(request: pytest.FixtureRequest) -> Table:
    """Take a table of figures: to be published under `python -m tests.tables`, printed in any other run."""
    over = next((one for one in request.config.pluginmanager.get_plugins() if isinstance(one, HandedOver)), None)
    return print_table if over is None else over.take


@pytest.fixture
def up_to_ready(tmp_path: Path) -> Callable[[Prepared, PluginFiles | None], tuple[bytes, float]]:
    """Run QEMU with or without the plugin until the guest says ready; gives its console and QEMU's user seconds."""

    async def follow(prepared: Prepared, plugin: PluginFiles | None) -> tuple[bytes, float]:
        console = b""
        with make_socket_folder() as sockets:
            wiring = Wiring(sockets / "qmp", plugin=plugin)
            argv = qemu_argv(prepared.system, prepared.files, wiring)
            async with QemuSession(argv, wiring.qmp_socket, stderr=tmp_path / "stderr") as session:
                await session.power_on()
                async for event in session.events():
                    if isinstance(event, ConsoleBytes):
                        console += event.data
                    if READY in console:
                        # utime, the 14th field of /proc/PID/stat; the name before it may hold blanks.
                        fields = Path(f"/proc/{session.pid}/stat").read_text().rpartition(")")[2].split()
                        return console[: console.index(READY)], int(fields[11]) / os.sysconf("SC_CLK_TCK")
        raise AssertionError(console[-500:])

    return lambda prepared, plugin: asyncio.run(follow(prepared, plugin))
