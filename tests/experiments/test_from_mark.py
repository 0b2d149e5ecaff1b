"""Boots that could begin at a mark: what is counted where they cannot, and in what two records of one boot differ."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from bootlab.errors import InputError
from bootlab.experiments.engine import Engine, Job
from bootlab.experiments.from_mark import FromMark, FromMarkResult, beginning_at, differences, expect_mark
from bootlab.measure.place import Here
from bootlab.measure.record import BeganRecord, BootRecord, Outcome, PictureRecord, ScreenRecord
from bootlab.measure.record_files import write_json
from tests.replayed import answer, new_run, prepared, replayed


def test_a_machine_that_cannot_be_kept_is_powered_on_and_that_is_told_once(tmp_path: Path) -> None:
    told: list[str] = []
    run, system = new_run(tmp_path), replayed(tmp_path)
    with beginning_at(run, "late", told.append) as beginnings:
        engine = Engine(run, place=Here(1), from_mark=beginnings)
        jobs = [Job(f"one-s{seed}", prepared(system).with_seed(seed), keeps=True) for seed in (1, 2)]
        records = engine.boot_all(jobs)
        assert beginnings is not None
        result = beginnings.result()
    assert [record.began for record in records] == [None, None]
    why = "clock.kind: a machine that runs on replay cannot be kept in a snapshot"
    assert result.powered_on == {why: 1, f"no more of them: {why}": 1} and result.given_up == why
    assert told == [f"no boot begins at late any more: {why}"]


def test_what_began_at_a_mark_is_booted_again_where_nobody_asks_for_a_mark(tmp_path: Path) -> None:
    """As when those from the mark differed, and the trial goes on without it."""
    run, job = new_run(tmp_path), Job("one", prepared(replayed(tmp_path)))
    (record,) = Engine(run).boot_all([job])
    began = record.model_copy(update={"began": BeganRecord(mark="late", t_ns=1, boot="b")})
    write_json(Path(record.run) / "record.json", began.model_dump(mode="json", by_alias=True))
    with beginning_at(run, "late", print) as beginnings:
        again = Engine(run, reuse=True, from_mark=beginnings)
        again.boot_all([job])
    whole = Engine(run, reuse=True)
    whole.boot_all([job])
    assert (again.boots, whole.boots) == (0, 1)


def test_what_nobody_will_begin_like_is_not_kept(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    beginnings = FromMark(run, "late", lambda line: None)
    beginnings.boot(Here(1), prepared(replayed(tmp_path)), "null", lambda: False, keeps=False)
    assert beginnings.result().powered_on == {"nothing was kept before": 1} and not beginnings.result().given_up


def test_machines_are_kept_no_more_where_nothing_but_the_baseline_began_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, one = new_run(tmp_path), prepared(replayed(tmp_path))
    kept = list[int]()
    monkeypatch.setattr(FromMark, "_keep", lambda of, begins, cancelled, number: (kept.append(begins.system.seed), ""))
    beginnings = FromMark(run, "late", lambda line: None)
    for seed in range(1, 15):
        beginnings.boot(Here(1), one.with_seed(seed), f"baseline-s{seed}", lambda: False, keeps=True)
        beginnings.boot(Here(1), one.with_seed(100 + seed), f"other-s{seed}", lambda: False, keeps=False)
    result = beginnings.result()
    # Neither of the two kinds begins at a mark here, so twelve boots are six of each.
    assert kept == [1, 2, 3, 4, 5, 6], result.powered_on
    assert result.powered_on["no other disk began at late in 12 boots, so no more are kept"] == 8


def test_a_boot_that_is_not_ready_from_the_mark_is_powered_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Going on may fail where booting does not: QEMU takes up no state, or there is no room."""
    good, hung = prepared(replayed(tmp_path / "a")), prepared(replayed(tmp_path / "b", answer({}, end="hung")))
    run = new_run(tmp_path)
    beginnings = FromMark(run, "late", lambda line: None)
    kept = SimpleNamespace(beginning=SimpleNamespace(host_s=0.0))
    monkeypatch.setattr(FromMark, "_find", lambda *asked: (kept, "", True))
    monkeypatch.setattr(FromMark, "_why_not", lambda *asked: ("", True))
    monkeypatch.setattr(type(good), "from_mark", lambda one, beginning: hung)
    record = beginnings.boot(Here(1), good, "one", lambda: False, keeps=True)
    assert record.outcome is Outcome.READY and record.began is None
    result = beginnings.result()
    assert result.powered_on == {"from late it was hung": 1} and result.began == 0 and not result.given_up


def test_two_records_of_one_boot_differ_in_what_is_no_hosts(tmp_path: Path) -> None:
    run, system = new_run(tmp_path), replayed(tmp_path)
    one, other, slower = Engine(run).boot_all(
        [Job("a", prepared(system)), Job("b", prepared(system)), Job("c", prepared(system).with_seed(2))]
    )
    assert one.run != other.run and differences(one, other) == []
    assert any(line.startswith("marks.ready: ") for line in differences(one, slower))
    later = other.model_copy(update={"marks": {**other.marks, "more": 5}})
    assert differences(one, later) == ["marks.more: None from the mark, 5 from power-on"]


def test_of_two_screens_only_what_was_seen_up_to_ready_is_compared(tmp_path: Path) -> None:
    (record,) = Engine(new_run(tmp_path)).boot_all([Job("a", prepared(replayed(tmp_path)))])
    assert record.ready_ns is not None

    def seen(looks: int, *at_ns: int, hash_: str = "a") -> BootRecord:
        pictures = [
            PictureRecord(mark=None, t_ns=t_ns, width=1, height=1, pixels_sha256="00", file="p.png") for t_ns in at_ns
        ]
        screen = ScreenRecord(looks=looks, frames=looks, after={}, frames_up_to={"desk": hash_}, pictures=pictures)
        return record.model_copy(update={"screen": screen})

    ready_ns = record.ready_ns
    assert differences(seen(8, ready_ns), seen(9, ready_ns, ready_ns + 1)) == []
    assert any("screen.pictures" in line for line in differences(seen(8, ready_ns), seen(8, ready_ns - 1)))
    assert any("screen.frames_up_to" in line for line in differences(seen(8), seen(8, hash_="b")))


def test_without_a_mark_there_are_no_beginnings_and_a_name_that_is_none_is_refused(tmp_path: Path) -> None:
    with beginning_at(new_run(tmp_path), None, print) as beginnings:
        assert beginnings is None
    expect_mark("late")
    with pytest.raises(InputError, match="--from-mark 'two words': "):
        expect_mark("two words")


def test_a_result_says_that_it_was_given_up_only_where_it_was() -> None:
    result = FromMarkResult(mark="m", kept=1, began=2, powered_on={}, checked="", skipped_s=9.5, spent_s=4.0)
    assert "given_up" not in result.model_dump()
    assert result.model_copy(update={"given_up": "why"}).model_dump()["given_up"] == "why"
