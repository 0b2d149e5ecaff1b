"""The table of estimates beside what a trial measured: which estimate is whose, and what has none.

Advice and trial are fixtures with made-up figures; no figure here was measured.
"""

import pytest

from bootlab.findings.advise import Advice, AdviceItem, Remedy
from scripts.publishing.estimates_table import estimates_of, estimates_table
from tests.report.trials import trial


def remedy(technique: str, estimated_ns: int, *, replaced: bool = False) -> Remedy:
    return Remedy(
        technique=technique, risk="none", knob="x", replaced=replaced, estimated_ns=estimated_ns, others_ns=2_000_000
    )


def advice(*remedies: Remedy) -> Advice:
    items = [
        AdviceItem(
            what="x", kind="technique", cost_ns=1, share=0.1, instructions=1, idle_ns=0, functions=[], remedy=one
        )
        for one in remedies
    ]
    return Advice(system="x", total_ns=10, items=items, rest_ns=0, not_applicable={})


def test_the_largest_estimate_is_first_and_work_that_is_done_otherwise_is_a_bound() -> None:
    tried = trial().alone[:2]
    small, large = remedy(tried[0].technique, 1_000_000), remedy(tried[1].technique, 9_000_000, replaced=True)
    lines = estimates_table(estimates_of(advice(small, large)), tried).splitlines()
    assert lines[2].startswith(f"| `{tried[1].technique}` | < 9.00 | 2.00 | ")
    assert lines[3] == f"| `{tried[0].technique}` | 1.00 | 2.00 | {(tried[0].saved_ns or 0) / 1e6:.2f} | shorter |"


def test_a_technique_without_an_estimate_and_one_with_two_are_errors() -> None:
    tried = trial().alone[:1]
    with pytest.raises(ValueError, match=f"{tried[0].technique}: advice does not name it"):
        estimates_table({}, tried)
    unsaved = [tried[0].model_copy(update={"saved_ns": None, "detail": "broke the boot"})]
    with pytest.raises(ValueError, match="broke the boot"):
        estimates_table({tried[0].technique: remedy(tried[0].technique, 1)}, unsaved)
    with pytest.raises(ValueError, match="a: advice estimates it in several parts"):
        estimates_of(advice(remedy("a", 1), remedy("a", 2)))
