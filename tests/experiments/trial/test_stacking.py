"""What goes onto a stack and in which order, what is tried on it once more, and what is left out: on recorded boots."""

from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.errors import BootFailed
from bootlab.experiments.trial.plan import Plan
from bootlab.experiments.trial.result import StackName, TryResult
from bootlab.report.boots.page import try_page
from bootlab.report.parts.figures import ms
from bootlab.report.trial.markdown import try_markdown
from bootlab.report.trial.text import try_result
from bootlab.techniques.model.evidence import Effect, Evidence, Proof
from bootlab.techniques.model.technique import Risk
from tests.replayed import (
    READY_NS,
    Booted,
    answer,
    answer_to_all,
    own_kernel,
    replayed,
    rewrite,
    trial,
    with_word,
    without,
    word,
)
from tests.report.boots.test_text import printed

MS = 1_000_000
AS_GIVEN = Plan("given", "each alone, then in the order given", None, by_gain=False)
LADDER = Plan("all", "each onto the one before, whatever it saves", None, by_gain=False, keep_all=True)


def steps(result: TryResult) -> list[tuple[str, str, str, bool]]:
    return [(step.stack.value, step.technique, step.verdict.value, step.retried) for step in result.stack]


def test_what_helped_is_stacked_in_the_order_of_its_gain(tmp_path: Path) -> None:
    booted = Booted()
    system = replayed(tmp_path, answer("little", later_ns=-2 * MS), answer("much", later_ns=-6 * MS))
    techniques = [word("little"), word("idle"), word("much")]
    result = trial(tmp_path, system, techniques, watcher=booted).run()
    assert [row.technique for row in result.alone] == ["little", "idle", "much"]
    assert steps(result) == [
        ("recommended", "much", "shorter", False),
        ("recommended", "little", "shorter", False),
    ]
    assert [step.total_saved_ns for step in result.stack] == [6 * MS, 8 * MS]
    assert [step.saved_ns for step in result.stack] == [6 * MS, 2 * MS]
    assert result.final[StackName.RECOMMENDED].ready_ns == READY_NS - 8 * MS
    # The first step is a boot that is on record already: much alone.
    assert booted.of("recommended-00-much-s") == []
    assert booted.of("recommended-00-much-fresh") == []
    assert booted.of("recommended-01-little-s") == ["1", "2", "3"]
    assert booted.of("recommended-01-little-fresh") == ["1-s4", "2-s5"], "it is plain"


def test_what_learns_of_the_system_is_stacked_behind_what_changes_it(tmp_path: Path) -> None:
    """What was learned before a change may not hold behind it; where things lie is learned last of all."""
    answers = [
        answer("places", later_ns=-6 * MS),
        answer("little", later_ns=-2 * MS),
        answer("files", later_ns=-3 * MS),
    ]
    learning = {"places": True, "files": False}
    techniques = [
        replace(one, change=replace(one.change, learning=lambda system: system, learns_places=learning[one.name]))
        if one.name in learning
        else one
        for one in map(word, ("places", "little", "files"))
    ]
    result = trial(tmp_path, replayed(tmp_path, *answers), techniques).run()
    assert result.final[StackName.RECOMMENDED].techniques == ["little", "files", "places"]


def test_a_plan_can_keep_its_own_order(tmp_path: Path) -> None:
    system = replayed(tmp_path, answer("little", later_ns=-2 * MS), answer("much", later_ns=-6 * MS))
    result = trial(tmp_path, system, [word("little"), word("much")], plan=AS_GIVEN).run()
    assert result.final[StackName.RECOMMENDED].techniques == ["little", "much"]


def test_what_helped_alone_and_not_on_the_stack_is_a_step_and_not_in_it(tmp_path: Path) -> None:
    """Two that spare the same wait: the second finds nothing left to spare."""
    system = replayed(
        tmp_path,
        answer("one", later_ns=-5 * MS),
        answer("two", later_ns=-4 * MS),
        answer_to_all("one", "two", later_ns=4 * MS),
    )
    result = trial(tmp_path, system, [word("two"), word("one")]).run()
    assert steps(result) == [
        ("recommended", "one", "shorter", False),
        ("recommended", "two", "no difference shown", False),
    ]
    assert result.final[StackName.RECOMMENDED].techniques == ["one"]
    assert [step.total_saved_ns for step in result.stack] == [5 * MS, 5 * MS]


@pytest.mark.parametrize("alone", ["nothing", "longer", "panicked"])
def test_what_did_not_help_alone_is_tried_again_on_the_stack(alone: str, tmp_path: Path) -> None:
    """Whatever it did alone: only on top of what helped does it find its own."""
    here = {"nothing": {}, "longer": {"later_ns": 3 * MS}, "panicked": {"end": "panicked"}}[alone]
    # The last word counts, so the panic needs a boot without the helper.
    late = {"kernel.cmdline": r"^(?!.*\bhelper\b).*\blate\b"}
    system = replayed(
        tmp_path,
        answer("helper", later_ns=-5 * MS),
        answer(late, **here),
        answer_to_all("helper", "late", later_ns=-2 * MS),
    )
    result = trial(tmp_path, system, [word("late"), word("helper"), word("idle")]).run()
    assert steps(result) == [
        ("recommended", "helper", "shorter", False),
        ("recommended", "late", "shorter", True),
    ]
    assert result.final[StackName.RECOMMENDED].techniques == ["helper", "late"]
    assert result.final[StackName.RECOMMENDED].ready_ns == READY_NS - 7 * MS


def test_of_those_tried_again_the_best_goes_first_and_the_others_once_more_on_it(tmp_path: Path) -> None:
    booted = Booted()
    system = replayed(
        tmp_path,
        answer("helper", later_ns=-5 * MS),
        answer_to_all("helper", "small", later_ns=-1 * MS),
        answer_to_all("helper", "large", later_ns=-3 * MS),
    )
    techniques = [word("small"), word("helper"), word("large"), word("idle")]
    result = trial(tmp_path, system, techniques, watcher=booted).run()
    assert [(step.technique, step.retried) for step in result.stack] == [
        ("helper", False),
        ("large", True),
        ("small", True),
    ]
    assert booted.of("recommended-01-idle-s") == ["1"]
    assert booted.of("recommended-02-") and not booted.of("recommended-02-idle"), "settled in the round before"


def test_one_that_costs_nothing_more_is_settled_where_the_best_spares_the_same(tmp_path: Path) -> None:
    system = replayed(
        tmp_path,
        answer("helper", later_ns=-5 * MS),
        answer_to_all("helper", "small", later_ns=-1 * MS),
        answer_to_all("helper", "large", later_ns=-3 * MS),
        answer_to_all("small", "large", later_ns=1 * MS),
    )
    result = trial(tmp_path, system, [word("small"), word("helper"), word("large")]).run()
    assert result.final[StackName.RECOMMENDED].techniques == ["helper", "large"]


def test_what_risks_something_stands_on_the_recommended_stack_and_not_in_it(tmp_path: Path) -> None:
    system = replayed(
        tmp_path,
        answer("safe", later_ns=-1 * MS),
        answer("bold", later_ns=-4 * MS),
        answer("open", later_ns=-2 * MS),
    )
    techniques = [word("safe"), word("bold", risk=Risk.FUNCTION), word("open", risk=Risk.SECURITY)]
    result = trial(tmp_path, system, techniques).run()
    assert result.final[StackName.RECOMMENDED].techniques == ["safe"]
    assert result.final[StackName.WITH_RISKS].techniques == ["safe", "bold", "open"]
    assert [row[:2] for row in steps(result)] == [
        ("recommended", "safe"),
        ("with risks", "bold"),
        ("with risks", "open"),
    ]
    assert result.final[StackName.WITH_RISKS].ready_ns == READY_NS - 7 * MS


def test_a_safe_one_that_did_nothing_is_tried_again_where_a_risk_has_changed_the_ground(tmp_path: Path) -> None:
    system = replayed(tmp_path, answer("bold", later_ns=-4 * MS), answer_to_all("bold", "safe", later_ns=-1 * MS))
    result = trial(tmp_path, system, [word("safe"), word("bold", risk=Risk.FUNCTION)]).run()
    assert result.final[StackName.RECOMMENDED].techniques == []
    assert result.final[StackName.RECOMMENDED].ready_ns == READY_NS
    assert steps(result) == [("with risks", "bold", "shorter", False), ("with risks", "safe", "shorter", True)]


def test_a_gain_that_the_knob_cannot_have_made_is_none(tmp_path: Path) -> None:
    system = replayed(tmp_path, answer("luck", later_ns=-5 * MS))
    result = trial(tmp_path, system, [word("luck", effect=Effect.NONE)]).run()
    (row,) = result.alone
    assert (row.verdict, row.saved_ns, row.detail) == (
        "no difference shown",
        5 * MS,
        "the boot shows that the knob had no effect",
    )
    assert result.stack == []


def test_what_no_boot_proves_is_not_recommended(tmp_path: Path) -> None:
    """It may have saved what it seems to; it stands among the techniques with risks, after what is proven."""
    system = replayed(tmp_path, answer("unproven", later_ns=-5 * MS), answer("proven", later_ns=-2 * MS))
    techniques = [word("unproven", effect=Effect.NOT_SHOWN), word("proven")]
    result = trial(tmp_path, system, techniques).run()
    row = result.alone[0]
    assert (row.verdict, row.saved_ns, row.proof) == ("shorter", 5 * MS, "not shown")
    assert row.detail == "no boot shows that the knob took effect: not recommended"
    assert steps(result) == [("recommended", "proven", "shorter", False), ("with risks", "unproven", "shorter", False)]
    assert result.final[StackName.RECOMMENDED].techniques == ["proven"]
    assert result.final[StackName.WITH_RISKS].techniques == ["proven", "unproven"]


@pytest.mark.parametrize("alone", ["shorter", "nothing"])
def test_what_a_boot_proves_alone_and_not_on_the_stack_is_not_recommended(alone: str, tmp_path: Path) -> None:
    def prove(after: Evidence, before: Evidence) -> Effect:
        return Effect.PROVEN if before.marks["ready"] == READY_NS else Effect.NOT_SHOWN

    saves = {"shorter": answer("hidden", later_ns=-2 * MS), "nothing": answer_to_all("one", "hidden", later_ns=-2 * MS)}
    system = replayed(tmp_path, answer("one", later_ns=-5 * MS), saves[alone])
    hidden = replace(word("hidden"), proof=Proof(prove))
    result = trial(tmp_path, system, [word("one"), hidden]).run()
    assert result.final[StackName.RECOMMENDED].techniques == ["one"]
    assert result.final[StackName.WITH_RISKS].techniques == ["one", "hidden"]
    told = [("recommended", "hidden", "shorter", False)] if alone == "shorter" else []
    assert steps(result)[1:] == [*told, ("with risks", "hidden", "shorter", True)]


FRAGILE = {"kernel.cmdline": r"\bone\b.*bootlab\.null=1(\s|$)"}


def test_a_step_that_fails_with_a_null_change_broke_it_and_the_stack_goes_on_without(tmp_path: Path) -> None:
    """With its seeds and its fresh boots it was ready: only a word that means nothing shows that it is not steady."""
    system = replayed(
        tmp_path,
        answer("one", later_ns=-5 * MS),
        answer("two", later_ns=-2 * MS),
        answer(FRAGILE, end="panicked", detail="unlucky"),
    )
    result = trial(tmp_path, system, [word("one"), word("two")]).run()
    assert [row.verdict for row in result.alone] == ["shorter", "shorter"]
    assert steps(result) == [
        ("recommended", "one", "broke it", False),
        ("recommended", "two", "shorter", False),
        # Tried again on the next stack, it fails again.
        ("with risks", "one", "broke it", True),
    ]
    for step in (result.stack[0], result.stack[2]):
        assert step.detail.startswith("with a change that means nothing: panicked: kernel panic: unlucky (")
        assert (step.ready_ns, step.saved_ns, step.phases, step.proof) == (None, None, [], "")
        assert {member.outcome for member in (*step.members, *step.fresh_members)} == {"ready"}
    assert [step.total_saved_ns for step in result.stack] == [0, 2 * MS, 2 * MS]
    for end in result.final.values():
        assert (end.techniques, end.unsteady) == (["two"], "")


def test_a_rung_that_fails_with_a_null_change_is_left_out_of_the_ladder(tmp_path: Path) -> None:
    system = replayed(
        tmp_path, answer("one", later_ns=-5 * MS), answer("two", later_ns=-2 * MS), answer(FRAGILE, end="check failed")
    )
    result = trial(tmp_path, system, [word("one"), word("two")], plan=LADDER, alone=False).run()
    assert [(step.technique, step.verdict.value) for step in result.stack] == [("one", "broke it"), ("two", "shorter")]
    assert result.stack[0].detail.startswith("with a change that means nothing: check failed: ")
    assert result.final[StackName.LADDER].techniques == ["two"]


def test_a_rung_on_a_baseline_that_now_and_then_fails_has_no_verdict_and_is_kept(tmp_path: Path) -> None:
    """It may be what mends that: the rungs above it have verdicts again."""
    unlucky = {"kernel.cmdline": r"^(?!.*\bone\b).*bootlab\.null=103"}
    system = replayed(
        tmp_path, answer("one", later_ns=-100_000), answer("two", later_ns=-5 * MS), answer(unlucky, end="hung")
    )
    result = trial(tmp_path, system, [word("one"), word("two")], plan=LADDER, alone=False).run()
    first, second = result.stack
    assert (first.verdict, first.saved_ns, first.ready_ns) == ("no verdict", None, READY_NS - 100_000)
    assert first.detail.startswith("what it stands on is not steady: ") and "baseline-fresh3" in first.detail
    assert (first.total_saved_ns, second.verdict, second.saved_ns) == (100_000, "shorter", 5 * MS)
    assert result.final[StackName.LADDER].techniques == ["one", "two"]
    rungs = [line for line in try_markdown(result).splitlines() if line.startswith("| `")]
    assert rungs[0] == f"| `one` | | {ms(first.total_ns)} | no verdict |"
    for shown in (printed(try_result(result)), try_page(result)):
        assert "no verdict" in shown and "what it stands on is not steady" in " ".join(shown.split())


def test_a_rung_s_null_change_is_one_of_the_five_boots_that_a_plain_one_takes(tmp_path: Path) -> None:
    booted = Booted()
    system = replayed(tmp_path, answer("one", later_ns=-5 * MS))
    trial(tmp_path, system, [word("one")], plan=LADDER, alone=False, watcher=booted).run()
    assert booted.of("ladder-00-one-") == ["s1", "s2", "s3", "null1-s1", "fresh1-s4"]


def test_a_finished_stack_that_fails_with_a_null_change_says_so_and_nothing_is_judged_on_it(tmp_path: Path) -> None:
    """Four null changes more show it, when others are tried on it: by then it is built."""
    unlucky = {"kernel.cmdline": r"\bone\b.*bootlab\.null=4(\s|$)"}
    system = replayed(
        tmp_path,
        answer("one", later_ns=-5 * MS),
        answer_to_all("one", "late", later_ns=-2 * MS),
        answer(unlucky, end="hung"),
    )
    result = trial(tmp_path, system, [word("one"), word("late")], ablation=True).run()
    assert steps(result) == [("recommended", "one", "shorter", False)]
    end = result.final[StackName.RECOMMENDED]
    assert end.techniques == ["one"]
    assert "-null4-" in end.unsteady and ": hung: not ready after" in end.unsteady
    (row,) = result.ablation
    assert (row.verdict, row.saved_ns) == ("no verdict", None)
    assert row.detail == f"what it stands on is not steady: {end.unsteady}"


def test_a_finished_stack_of_which_a_fresh_boot_failed_says_so(tmp_path: Path) -> None:
    """It was booted to confirm what is near on top of it, which gets no verdict."""
    unlucky = {"kernel.cmdline": r"\bone\b(?!.*\btwo\b).*bootlab\.null=108"}
    system = replayed(
        tmp_path, answer("one", later_ns=-5 * MS), answer("two", later_ns=-100_000), answer(unlucky, end="hung")
    )
    result = trial(tmp_path, system, [word("one"), word("two")]).run()
    assert steps(result)[:2] == [("recommended", "one", "shorter", False), ("recommended", "two", "no verdict", False)]
    assert result.stack[1].detail.startswith("what it stands on is not steady: ")
    end = result.final[StackName.RECOMMENDED]
    assert end.techniques == ["one"]
    assert "recommended-00-one-fresh8-s11: hung" in end.unsteady


def test_a_ladder_keeps_what_costs_and_leaves_out_what_breaks_or_does_not_apply(tmp_path: Path) -> None:
    booted = Booted()
    system = replayed(
        tmp_path,
        answer("slow", later_ns=3 * MS),
        answer("wrong", end="panicked"),
        answer("fast", later_ns=-5 * MS),
        answer("refused", refused="no such option"),
    )
    ladder = [word(name) for name in ("slow", "wrong", "refused", "idle", "slow2", "fast")]
    ladder.append(word("last", applies=with_word("fast")))
    result = trial(tmp_path, system, ladder, plan=LADDER, watcher=booted, alone=False).run()
    assert result.alone == []
    assert [(step.technique, step.verdict.value) for step in result.stack] == [
        ("slow", "longer"),
        ("wrong", "broke it"),
        ("refused", "does not apply"),
        ("idle", "no difference shown"),
        ("slow2", "no difference shown"),
        ("fast", "shorter"),
        ("last", "no difference shown"),
    ]
    assert [step.total_saved_ns for step in result.stack] == [
        -3 * MS,
        -3 * MS,
        -3 * MS,
        -3 * MS,
        -3 * MS,
        2 * MS,
        2 * MS,
    ]
    assert result.final[StackName.LADDER].techniques == ["slow", "idle", "slow2", "fast", "last"]
    # The next step stands on each: all its seeds and a null change, whatever the first boot says.
    assert booted.of("ladder-01-idle-") == ["s1", "s2", "s3", "null1-s1"]


def test_a_ladder_has_a_row_for_a_rung_that_changes_nothing(tmp_path: Path) -> None:
    idle = word("idle")
    same = replace(idle, change=replace(idle.change, apply=lambda system, measured: system))
    result = trial(tmp_path, replayed(tmp_path), [same], plan=LADDER).run()
    (step,) = result.stack
    assert (step.verdict, step.detail) == ("does not apply", "it changes nothing here")
    assert result.final[StackName.LADDER].techniques == []


@pytest.mark.parametrize("plan", [AS_GIVEN, LADDER], ids=lambda plan: plan.name)
def test_a_machine_killed_on_the_stack_ends_the_trial_and_not_the_technique(plan: Plan, tmp_path: Path) -> None:
    system = replayed(
        tmp_path,
        answer("one", later_ns=-5 * MS),
        answer("two", later_ns=-2 * MS),
        answer_to_all("one", "two", end="target died", detail="killed by signal 9"),
    )
    with pytest.raises(BootFailed, match="killed by signal 9") as caught:
        trial(tmp_path, system, [word("one"), word("two")], plan=plan).run()
    assert caught.value.hint is not None and "--resume" in caught.value.hint


KILLED_NULLS = {
    "on the stack": {"kernel.cmdline": r"\bone\b.*bootlab\.null=1"},
    "before others are tried again": {"kernel.cmdline": r"\bone\b.*bootlab\.null=4"},
}


@pytest.mark.parametrize("when", KILLED_NULLS.values(), ids=list(KILLED_NULLS))
def test_a_null_change_killed_on_the_stack_makes_no_narrower_spread(when: dict[str, str], tmp_path: Path) -> None:
    """Judged without it, the next technique could look better than it is, and otherwise than when resumed."""
    answers = [answer("one", later_ns=-5 * MS), answer("two", later_ns=-2 * MS)]
    system = replayed(tmp_path, *answers, answer(when, end="target died"))
    techniques = [word("one"), word("two"), word("idle")]
    first = trial(tmp_path, system, techniques)
    with pytest.raises(BootFailed) as caught:
        first.run()
    assert caught.value.hint is not None and "--resume" in caught.value.hint
    rewrite(tmp_path, *answers)
    result = trial(tmp_path, system, techniques, run=first.engine.run).run()
    assert result.final[StackName.RECOMMENDED].techniques == ["one", "two"]


def test_what_takes_a_protection_along_is_not_recommended(tmp_path: Path) -> None:
    """Whether alone, or only on the ground that another one has made: what it is about itself is harmless."""
    system = own_kernel(
        replayed(
            tmp_path,
            answer({"kernel.build": '"BIG": "n"'}, later_ns=-5_000_000, kernel_config="big"),
            answer({"kernel.build": '"LATE": "n"'}, later_ns=-3_000_000, kernel_config="late"),
            answer({"kernel.build": '"BIG": "n".*"LATE": "n"'}, kernel_config="both"),
            answer({"kernel.build": '"BOLD": "n"'}, later_ns=-1_000_000, kernel_config="bold"),
        )
    )
    configs = {
        "kernel.config": "CONFIG_BIG=y\nCONFIG_LATE=y\nCONFIG_BOLD=y\nCONFIG_SECURITY=y\n",
        "big": "CONFIG_LATE=y\nCONFIG_BOLD=y\nCONFIG_SECURITY=y\n",
        "late": "CONFIG_BIG=y\nCONFIG_BOLD=y\nCONFIG_SECURITY=y\n",
        "both": "CONFIG_BOLD=y\n",
        "bold": "CONFIG_BIG=y\nCONFIG_LATE=y\n",
    }
    for name, text in configs.items():
        (tmp_path / "recorded" / name).write_text(text)
    result = trial(tmp_path, system, [without("BIG"), without("LATE"), without("BOLD")]).run()
    risks = {row.technique: row.risk for row in result.alone}
    assert risks == {"without-big": "none", "without-late": "none", "without-bold": "security"}
    assert result.final[StackName.RECOMMENDED].techniques == ["without-big"]
    refused = next(step for step in result.stack if step.technique == "without-late")
    assert (refused.stack, refused.verdict, refused.risk) == ("recommended", "shorter", "security")
    assert refused.also_lost == ["SECURITY"]
    assert refused.detail == "here the kernel loses SECURITY with it, which is no part of this stack"
    assert "without-late" in result.final[StackName.WITH_RISKS].techniques
