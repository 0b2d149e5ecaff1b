"""What each technique contributes to a finished stack: what is left out, compared with what, and what needs another."""

from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.errors import BootFailed
from bootlab.experiments.trial.plan import Plan
from bootlab.experiments.trial.result import Ablated, StackName, TryResult
from bootlab.techniques.model.technique import Risk, Technique
from tests.replayed import READY_NS, Booted, answer, answer_to_all, replayed, rewrite, trial, with_word, word

MS = 1_000_000
ONE, TWO = answer("one", later_ns=-5 * MS), answer("two", later_ns=-3 * MS)


def contributions(result: TryResult) -> dict[tuple[str, str], tuple[str, int | None, int | None]]:
    """Return (stack, technique) -> verdict, what it saves there and what it saved alone."""
    return {(row.stack, row.technique): (row.verdict, row.saved_ns, row.alone_ns) for row in result.ablation}


def only_row(result: TryResult, technique: str) -> Ablated:
    (row,) = [row for row in result.ablation if row.technique == technique]
    return row


def test_each_is_left_out_by_itself_with_all_others_in(tmp_path: Path) -> None:
    """Two that spare the same wait: either alone saves 5 ms, and neither can be missed without the other."""
    booted = Booted()
    system = replayed(tmp_path, ONE, TWO, answer_to_all("one", "two", later_ns=-1 * MS))
    result = trial(tmp_path, system, [word("two"), word("idle"), word("one")], ablation=True, watcher=booted).run()
    assert contributions(result) == {
        ("recommended", "one"): ("shorter", 6 * MS, 5 * MS),
        ("recommended", "two"): ("shorter", 4 * MS, 3 * MS),
    }
    # What is shown is the stack without it.
    assert only_row(result, "one").ready_ns == READY_NS - 3 * MS
    assert not booted.of("recommended-without-"), "either stack of one is on record"
    assert booted.of("recommended-whole-null") or booted.of("recommended-02-null"), "the spread is the whole stack's"


def test_what_a_later_one_made_useless_is_seen_to_save_nothing(tmp_path: Path) -> None:
    three = answer("three", later_ns=-2 * MS)
    without_one, all_three = answer_to_all("two", "three", later_ns=-5 * MS), answer_to_all("one", "two", "three")
    replaced = replace(all_three, said={"later_ns": 5 * MS})
    system = replayed(tmp_path, ONE, TWO, three, without_one, replaced)
    result = trial(tmp_path, system, [word(name) for name in ("one", "two", "three")], ablation=True).run()
    assert contributions(result) == {
        ("recommended", "one"): ("no difference shown", 0, 5 * MS),
        ("recommended", "two"): ("shorter", 3 * MS, 3 * MS),
        ("recommended", "three"): ("shorter", 2 * MS, 2 * MS),
    }
    assert len(only_row(result, "one").members) == 1, "settled by one boot"


def test_what_a_stack_would_be_shorter_without_costs_something_there(tmp_path: Path) -> None:
    ladder = Plan("ladder", "", None, by_gain=False, keep_all=True)
    system = replayed(tmp_path, ONE, answer("slow", later_ns=4 * MS))
    result = trial(tmp_path, system, [word("slow"), word("one")], plan=ladder, ablation=True).run()
    assert contributions(result) == {
        ("ladder", "slow"): ("longer", -4 * MS, -4 * MS),
        ("ladder", "one"): ("shorter", 5 * MS, 5 * MS),
    }


def test_a_stack_that_breaks_without_one_needs_it(tmp_path: Path) -> None:
    system = replayed(
        tmp_path, ONE, answer_to_all("one", "two", later_ns=-3 * MS),
        answer({"kernel.cmdline": r"^(?!.*\bone\b).*\btwo\b"}, end="panicked", detail="two needs one"),
    )  # fmt: skip
    result = trial(tmp_path, system, [word("one"), word("two")], ablation=True).run()
    assert result.final[StackName.RECOMMENDED].techniques == ["one", "two"]
    row = only_row(result, "one")
    assert (row.verdict, row.saved_ns, row.alone_ns) == ("broke it", None, 5 * MS)
    assert row.detail.startswith("the stack needs it: without it panicked: kernel panic: two needs one")
    # What broke the boot alone saved nothing alone.
    assert contributions(result)["recommended", "two"] == ("shorter", 3 * MS, None)


def test_a_stack_that_cannot_be_made_without_one_has_a_row_for_it(tmp_path: Path) -> None:
    """The one that does not apply without the other is named, and nothing is booted for it."""
    booted = Booted()
    system = replayed(tmp_path, ONE, TWO, answer("three", later_ns=-1 * MS))
    techniques = [word("one"), word("two", applies=with_word("one")), word("three")]
    result = trial(tmp_path, system, techniques, ablation=True, watcher=booted).run()
    assert result.alone[1].verdict == "does not apply"
    assert result.final[StackName.RECOMMENDED].techniques == ["one", "three", "two"]
    row = only_row(result, "one")
    assert (row.verdict, row.detail) == ("does not apply", "the stack cannot be made without it: two: needs one")
    assert contributions(result)["recommended", "two"] == ("shorter", 3 * MS, None)
    assert not booted.of("recommended-without-one")


def test_a_stack_whose_kernel_cannot_be_built_without_one_has_a_row_for_it(tmp_path: Path) -> None:
    system = replayed(
        tmp_path, ONE, answer_to_all("one", "two", later_ns=-3 * MS),
        answer({"kernel.cmdline": r"^(?!.*\bone\b).*\btwo\b"}, unbuilt="make failed"),
    )  # fmt: skip
    result = trial(tmp_path, system, [word("one"), word("two")], ablation=True).run()
    row = only_row(result, "one")
    assert (row.verdict, row.detail) == ("broke it", "the stack cannot be made without it: make failed")


def test_a_stack_that_is_the_same_without_one_is_not_booted(tmp_path: Path) -> None:
    """The later of two that turn the same knob has the last word."""

    def memory(mib: int) -> Technique:
        one = word(f"memory-{mib}")
        changed = replace(one.change, apply=lambda system, measured: system.with_part("machine", memory_mib=mib))
        return replace(one, change=changed)

    booted = Booted()
    system = replayed(
        tmp_path,
        answer({"machine.memory_mib": "^512$"}, later_ns=-5 * MS),
        answer({"machine.memory_mib": "^384$"}, later_ns=-9 * MS),
    )
    ladder = Plan("ladder", "", None, by_gain=False, keep_all=True)
    techniques = [memory(512), memory(384)]
    result = trial(tmp_path, system, techniques, plan=ladder, ablation=True, watcher=booted).run()
    assert contributions(result) == {
        ("ladder", "memory-512"): ("does not apply", None, 5 * MS),
        ("ladder", "memory-384"): ("shorter", 4 * MS, 9 * MS),
    }
    assert only_row(result, "memory-512").detail == "the stack without it is the same system"
    assert not booted.of("ladder-without-memory-512")


def test_the_stack_with_risks_is_taken_apart_too(tmp_path: Path) -> None:
    system = replayed(tmp_path, ONE, answer("bold", later_ns=-3 * MS))
    techniques = [word("one"), word("bold", risk=Risk.FUNCTION)]
    assert contributions(trial(tmp_path, system, techniques, ablation=True).run()) == {
        ("recommended", "one"): ("shorter", 5 * MS, 5 * MS),
        ("with risks", "one"): ("shorter", 5 * MS, 5 * MS),
        ("with risks", "bold"): ("shorter", 3 * MS, 3 * MS),
    }


def test_two_stacks_of_the_same_techniques_are_taken_apart_once(tmp_path: Path) -> None:
    result = trial(tmp_path, replayed(tmp_path, ONE), [word("one")], ablation=True).run()
    assert result.final[StackName.RECOMMENDED].techniques == result.final[StackName.WITH_RISKS].techniques
    assert [row.stack for row in result.ablation] == ["recommended"]
    nothing = trial(tmp_path, replayed(tmp_path / "idle"), [word("one")], ablation=True).run()
    assert nothing.ablation == []


def test_a_machine_killed_without_one_is_not_a_need_and_a_resumed_trial_finds_the_truth(tmp_path: Path) -> None:
    without = {"kernel.cmdline": r"^(?!.*\bone\b)(?=.*\btwo\b).*\bthree\b"}
    three = answer("three", later_ns=-1 * MS)
    system = replayed(tmp_path, ONE, TWO, three, answer(without, end="target died"))
    techniques = [word("one"), word("two"), word("three")]
    first = trial(tmp_path, system, techniques, ablation=True)
    with pytest.raises(BootFailed) as caught:
        first.run()
    assert caught.value.hint is not None and "--resume" in caught.value.hint
    rewrite(tmp_path, ONE, TWO, three)
    booted = Booted()
    result = trial(tmp_path, system, techniques, ablation=True, run=first.engine.run, watcher=booted).run()
    assert contributions(result)["recommended", "one"] == ("shorter", 5 * MS, 5 * MS)
    assert booted.labels[0] == "recommended-without-one-s1"


def test_a_null_change_of_the_whole_stack_that_was_killed_makes_no_narrower_spread(tmp_path: Path) -> None:
    system = replayed(tmp_path, ONE, answer({"kernel.cmdline": r"\bone\b.*bootlab\.null=4"}, end="target died"))
    with pytest.raises(BootFailed) as caught:
        trial(tmp_path, system, [word("one")], ablation=True).run()
    assert caught.value.hint is not None and "--resume" in caught.value.hint
