"""What a boot waits for IPv6, told by calls of the kernel's functions."""

from dataclasses import replace
from pathlib import Path

from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.ipv6 import (
    ANSWERED,
    ASKED,
    COMPLETED,
    SCHEDULED,
    STARTED,
    find_address_waits,
    missing_calls,
)
from bootlab.findings.audit.process_costs import TaskCosts
from bootlab.profile.recorded.trace import TracedCall
from tests.findings.audit.told_boot import analysis_of_the_boot


def evidence(folder: Path, *calls: tuple[str, int, int]) -> AuditedBoot:
    analysis = analysis_of_the_boot(folder)
    traced = tuple(TracedCall(name, t_ns, t_ns, argument) for name, t_ns, argument in calls)
    analysis = replace(analysis, calls=traced)
    return AuditedBoot(analysis, TaskCosts(analysis))


def test_an_address_costs_the_idle_time_in_which_it_was_tentative(tmp_path: Path) -> None:
    plain = evidence(tmp_path)
    (idle,) = plain.analysis.profile.idles
    start, end = int(idle["start_ns"]), int(idle["end_ns"])
    found = find_address_waits(
        evidence(
            tmp_path,
            (STARTED, 1_000, 0x10),
            (COMPLETED, 1_500, 0x10),
            (STARTED, start - 500_000, 0x20),
            (SCHEDULED, start, 0x30),
            (SCHEDULED, start + 1_000, 0x30),
            (COMPLETED, end - 2_000_000, 0x20),
            (COMPLETED, end - 1_000_000, 0x30),
            (ASKED, end - 1_000_000, 0x99),
        )
    )
    assert found is not None and found.cost_ns == found.idle_ns == end - 1_000_000 - start
    assert [(one.lasted_ns, one.detail) for one in found.items[:2]] == [
        (end - 1_000_000 - start, "the machine was idle for 4.0 ms of it"),
        (end - 1_500_000 - start, "the machine was idle for 3.0 ms of it"),
    ]
    assert "2 addresses" in found.what and found.items[-1].detail.endswith("no answers")


def test_one_that_is_tentative_to_the_end_and_a_router_that_answers(tmp_path: Path) -> None:
    found = find_address_waits(evidence(tmp_path, (STARTED, 100, 1), (ASKED, 200, 2), (ANSWERED, 300, 3)))
    assert found is not None and found.items[0].detail.endswith("; still so when the boot was ready")
    assert found.items[1].detail == "1 times, at 0.0 ms; 1 answers"


def test_an_address_that_is_used_at_once_is_no_finding(tmp_path: Path) -> None:
    assert find_address_waits(evidence(tmp_path, (STARTED, 1_000, 7), (COMPLETED, 1_100, 7))) is None


def test_a_kernel_that_inlines_one_of_the_first_steps_is_looked_at() -> None:
    assert missing_calls((SCHEDULED, COMPLETED, ASKED, ANSWERED)) == []
    assert missing_calls((COMPLETED, ASKED, ANSWERED)) == [STARTED, SCHEDULED]
    assert missing_calls((STARTED, ASKED, ANSWERED)) == [COMPLETED]
