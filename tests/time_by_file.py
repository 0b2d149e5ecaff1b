"""What the tests of each file took, on the clock and on the processors, shown at the end of a run of over a minute.

Time on the clock is what this machine took today. Time on the processors is nearly the same on a busy machine, so that
is where one sees that a group of tests has grown. A run with a budget is held against it, and never fails for it. A run
that somebody will cut off can begin no test from some minute on: those are left out, and named, and the others count.
"""

import os
import time
from collections.abc import Generator
from dataclasses import dataclass, field

import pytest

SHORTEST_RUN_S = 60
LEAST_S = 5
"""A file whose tests take less has no line of its own."""
NO_TIME = "no time was left"
"""What a test that is left out for want of time is skipped with."""
TOOK = "seconds on the clock and on the processors"
"""What a test's last report calls its time."""


@dataclass
class Took:
    """Seconds on the clock, seconds on the processors of this process and all that it waited for, and tests run."""

    clock_s: float = 0.0
    cpu_s: float = 0.0
    tests: int = 0

    def add(self, clock_s: float, cpu_s: float, tests: int = 1) -> None:
        """Count some tests more."""
        self.clock_s += clock_s
        self.cpu_s += cpu_s
        self.tests += tests


def cpu_s() -> float:
    """Return what this process and all children that it waited for have used of the processors, in seconds."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


@dataclass(eq=False)  # pytest wants its plugins to be hashable
class TimeByFile:
    """A plugin of pytest that keeps the time of each file.

    `budget_min`: minutes that the run may take. `begin_until_min`: from then on no test begins.
    """

    budget_min: float | None = None
    begin_until_min: float | None = None
    files: dict[str, Took] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    _began_s: float = field(default_factory=time.monotonic)
    _test_began: tuple[float, float] = (0.0, 0.0)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        """Note when a test begins, with what is set up for it, which may serve others too."""
        self._test_began = (time.monotonic(), cpu_s())

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Leave a test out that would begin too late."""
        if self.begin_until_min is not None and time.monotonic() - self._began_s >= self.begin_until_min * 60:
            pytest.skip(f"{NO_TIME}: no test begins {self.begin_until_min:g} minutes behind the first")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport]:
        """Hand on what a test took, with its last report: it may run in a worker that shows nothing itself."""
        report = yield
        if call.when == "teardown":
            began_s, used_s = self._test_began
            report.user_properties.append((TOOK, (time.monotonic() - began_s, cpu_s() - used_s)))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test that ended, or one that was left out."""
        if report.skipped and NO_TIME in str(report.longrepr):
            self.left_out.append(report.nodeid)
        for clock_s, cpu_s in [took for name, took in report.user_properties if name == TOOK]:
            self.files.setdefault(report.nodeid.partition("::")[0], Took()).add(clock_s, cpu_s)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the files, the longest first, and how the whole run stands to its budget."""
        clock_s = time.monotonic() - self._began_s
        if clock_s >= SHORTEST_RUN_S or self.budget_min is not None:
            terminalreporter.section("time by file")
            for line in lines(self.files, clock_s, self.budget_min):
                terminalreporter.write_line(line)
        if self.left_out:
            terminalreporter.section(f"LEFT OUT, {len(self.left_out)} tests: {NO_TIME}")
            for test in sorted(self.left_out):
                terminalreporter.write_line(test)


def lines(files: dict[str, Took], clock_s: float, budget_min: float | None) -> list[str]:
    """Return the table, and below it what a run of `clock_s` in all has left of its budget, or is over it."""
    order = sorted(files.items(), key=lambda item: -item[1].cpu_s)
    shown = [(path, took) for path, took in order if max(took.clock_s, took.cpu_s) >= LEAST_S]
    rest, whole = Took(), Took()
    for path, took in order:
        whole.add(took.clock_s, took.cpu_s, took.tests)
        if path not in dict(shown):
            rest.add(took.clock_s, took.cpu_s, took.tests)
    rows = [*shown, (f"{len(order) - len(shown)} files of less than {LEAST_S} s", rest), ("all tests", whole)]
    table = [f"{took.clock_s:8.1f} {took.cpu_s:8.1f} {took.tests:6}  {name}" for name, took in rows if took.tests]
    told = [f"{'clock s':>8} {'CPU s':>8} {'tests':>6}", *table]
    if budget_min is not None:
        took_min = clock_s / 60
        over = took_min - budget_min
        told.append(
            f"OVER THE BUDGET: {took_min:.1f} min, {over:.1f} more than {budget_min:g}"
            if over > 0
            else f"within the budget: {took_min:.1f} min of {budget_min:g}"
        )
    return told
