"""What the timing guest said, read: ticks become ns, and what it never says is refused."""

import pytest

from bootlab.errors import BootFailed
from bootlab.measure.host_fit.samples import read_timed
from tests.measure.host_fit.said import CLOCK, SLEEP_NS, said


def test_ticks_of_a_batch_become_ns_of_one() -> None:
    timed = read_timed(said(lacks=("hypercall",), rules="vmx"))
    assert timed.ns["cpuid"] == (1000.0,) * 20 and timed.ns["pages"][0] == 2000.0
    assert (timed.rules, timed.lacking, timed.sleep_ns) == ("vmx", ("hypercall",), SLEEP_NS)
    assert "hypercall" not in timed.ns and "clock" not in timed.ns and "sleep_ns" not in timed.ns


def test_a_clock_that_is_slower_or_faster_than_its_counter() -> None:
    text = said()
    # 3 GHz as KVM says it: multiplier 0xaaaaaaab, shift -1.
    timed = read_timed(text.replace(CLOCK, "clock 2863311531 -1 1"))
    assert timed.ns["cpuid"][0] == pytest.approx(2000 / 3)
    assert read_timed(text.replace(CLOCK, "clock 2147483648 2 1")).ns["cpuid"][0] == 4000


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "it said nothing"),
        ("SeaBIOS\nend\n", "its last line is 'end'"),
        (said().replace("end\n", ""), "did not come to its end: its last line is 'clearing"),
        (said().replace(CLOCK, "clock 0 0 0"), "finds no clock of KVM's"),
        (said().replace(CLOCK, "clock 1 99 0"), "finds no clock of KVM's"),
        (said().replace(CLOCK, "clock 1"), "left out its clock or its CPU"),
        (said().replace("rules svm", "rules via"), "left out its clock or its CPU"),
        (said().replace("rules svm", "what\x07 svm"), "said what it never says"),
        (said().replace("end\n", "cr 16\nend\n"), "said what it never says: 'cr 16'|timed cr not once"),
    ],
)
def test_what_is_no_such_report_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(BootFailed, match=complaint):
        read_timed(text)


def test_what_every_guest_times_is_not_left_out() -> None:
    with pytest.raises(BootFailed, match="left out pages: its last line is 'end'"):
        read_timed("\n".join(line for line in said().split("\n") if not line.startswith("pages ")))


def test_a_count_of_none_is_refused() -> None:
    with pytest.raises(BootFailed, match="cr: a batch of 0"):
        read_timed(said().replace("\ncr 16 ", "\ncr 0 "))
