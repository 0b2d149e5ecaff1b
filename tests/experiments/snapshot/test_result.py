"""What clones show: what two have in common that they must not is named, and one that does not repeat is found."""

from bootlab.experiments.snapshot.result import clones_result
from bootlab.measure.record import BootRecord, Outcome, RestoredRecord
from tests.cli.recorded_runs import boots


def clone(number: int, fact: str | None, **more: object) -> BootRecord:
    record = boots("series-before.json")[0]
    facts = {} if fact is None else {"clone": fact}
    restored = RestoredRecord(snapshot="/kept", clone=number, kept_ns=5)
    return record.model_copy(update={"restored": restored, "facts": facts, "outcome": Outcome.READY, **more})


def test_clones_that_differ_and_repeat_are_good() -> None:
    one, two = clone(1, "1 aa s-1"), clone(2, "2 bb s-2")
    result = clones_result([one, two], one, "/kept", "/run")
    assert result.good and result.repeats and result.alike == []


def test_what_two_have_in_common_is_named() -> None:
    result = clones_result([clone(1, "1 aa s-1"), clone(2, "2 aa s-2"), clone(3, "3 bb s-2")], None, "/kept", "/run")
    assert result.alike == ["clones 1, 2 have the same random bytes: aa", "clones 2, 3 have the same host name: s-2"]
    assert not result.good
    session = {"clone": "1 aa a", "session": "x"}, {"clone": "2 bb b", "session": "x"}
    found = clones_result([clone(n, None, facts=facts) for n, facts in enumerate(session, 1)], None, "/kept", "/run")
    assert found.alike == ["clones 1, 2 have the same session key: x"]


def test_one_that_says_nothing_or_is_not_ready_is_not_good() -> None:
    silent = clones_result([clone(1, None)], None, "/kept", "/run")
    assert silent.alike == ["clone 1 does not say who it is: nothing in it was changed"] and not silent.good
    hung = clones_result([clone(1, "1 aa a", outcome=Outcome.HUNG)], None, "/kept", "/run")
    assert hung.alike == [] and not hung.good


def test_one_that_does_not_repeat_is_not_good() -> None:
    one = clone(1, "1 aa s-1")
    for other in (clone(1, "1 ab s-1"), clone(1, "1 aa s-1", instructions=1)):
        assert not clones_result([one], other, "/kept", "/run").repeats
