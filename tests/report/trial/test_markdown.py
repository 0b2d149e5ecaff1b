"""A trial in Markdown: every technique is told once, figures stand to the right, nothing of a run is markup."""

import pytest

from bootlab.report.trial.markdown import try_markdown
from bootlab.report.trial.text import try_result
from bootlab.techniques.model.evidence import Effect
from bootlab.techniques.model.verdict import Verdict
from tests.report.boots.test_text import printed
from tests.report.trials import confirmed_trial, loaded_trial, trial


def test_the_stacks_with_where_each_ends_and_what_was_measured_on() -> None:
    text = try_markdown(trial())
    lines = text.splitlines()
    assert lines[:4] == [
        "| step, each on top of those above | saved ms | ready ms |",
        "|---|---:|---:|",
        "| baseline | | 1534.16 |",
        "| `cmdline_cryptomgr_notests` | 881.04 | 653.12 |",
    ]
    assert "| `firmware_qboot` | 3.87 | **613.28** recommended: 2.50x fewer instructions + idle |" in lines
    assert (
        "| `cmdline_mitigations_off` | 15.48 | **317.62** with named risks: 4.83x fewer instructions + idle |" in lines
    )
    assert "Does not apply: `cmdline_i8042_noaux`, `machine_vcpus_4`." in lines
    assert "the baseline, 1534.16 ms, moves by 0.36 ms for no reason, over 9 boots. kernel 130d157a6488" in " ".join(
        lines
    )
    assert max(map(len, (line for line in lines if not line.startswith("|")))) <= 120


def test_moved_ticks_are_told() -> None:
    result = trial()
    moved = [one.model_copy(update={"ticks_moved_ns": 5}) for one in result.baseline.null_members]
    ticking = result.model_copy(update={"baseline": result.baseline.model_copy(update={"null_members": moved})})
    words = "over 9 boots, ticks moved"
    assert words in " ".join(try_markdown(ticking).split()) and words in printed(try_result(ticking))


def test_each_alone_where_nothing_was_stacked() -> None:
    lines = try_markdown(trial().model_copy(update={"stack": []})).splitlines()
    assert lines[0] == "| technique alone | verdict | saved ms | spread ms | proof |"
    assert "| `machine_memory_1024` | longer | -6.32 | 0.36 | proven |" in lines
    assert not any(line.startswith("Longer") for line in lines), "the table has it"
    assert "Broke it: `cmdline_pci_off`, `machine_uncompressed_pvh`." in lines


def test_a_load_by_a_model_stands_apart_with_a_verdict_on_the_rest() -> None:
    first, *others = trial().alone
    split = first.model_copy(update={"load_saved_ns": first.saved_ns + 1_500_000, "execution": Verdict.LONGER})
    result = loaded_trial().model_copy(update={"stack": [], "alone": [split, *others]})
    lines = try_markdown(result).splitlines()
    assert lines[0].startswith(
        "| technique alone | verdict | saved ms | of it load ms | without the load ms | and that is |"
    )
    row = next(line for line in lines if first.technique in line)
    assert "| -1.50 | longer |" in row


def test_what_a_run_says_is_no_markup() -> None:
    result = trial().model_copy(update={"system": "a|b`<script>\x1b[31m"})
    assert "a\\|b'&lt;script>, virtual clock" in try_markdown(result)


def test_a_ladder_says_what_is_known_of_each_step_and_which_saving_is_of_other_boots() -> None:
    result = trial()
    first, second, *_ = [step for step in result.stack if step.verdict.saves]
    steps = [
        first.model_copy(update={"stack": "ladder", "proof": "no effect", "fresh_members": []}),
        second.model_copy(update={"stack": "ladder", "fresh_members": second.members}),
    ]
    end = next(iter(result.final.values()))
    lines = try_markdown(result.model_copy(update={"stack": steps, "final": {"ladder": end}})).splitlines()
    assert lines[0] == "| step, each on top of those above | saved ms | ready ms | verdict |"
    rows = {line.split("|")[1].strip(): line.split("|")[4].strip() for line in lines[3:5]}
    assert rows == {f"`{first.technique}`": "no effect", f"`{second.technique}`": second.verdict.value}
    told = " ".join(lines[5:8])
    assert f"*Saved* of `{second.technique}` is of fresh boots" in told and first.technique not in told
    every = [one.model_copy(update={"fresh_members": one.members}) for one in steps]
    told = try_markdown(result.model_copy(update={"stack": every, "final": {"ladder": end}}))
    assert "*Saved* of each step is of fresh boots" in told


@pytest.mark.parametrize("stack", ["with risks", "ladder"])
def test_a_step_that_no_boot_proves_says_so(stack: str) -> None:
    result = trial()
    first, second, *_ = [step for step in result.stack if step.verdict.saves]
    steps = [
        first.model_copy(update={"stack": stack, "proof": "not shown"}),
        second.model_copy(update={"stack": stack, "proof": "proven"}),
    ]
    end = result.final["recommended"].model_copy(update={"techniques": [one.technique for one in steps]})
    told = try_markdown(result.model_copy(update={"stack": steps, "final": {stack: end}}))
    assert f"\nNo boot shows that `{first.technique}` took effect.\n" in told
    assert "No boot shows" not in try_markdown(result)


def test_a_step_without_a_saving_says_which_boots_were_not_well() -> None:
    result = confirmed_trial()
    first, second, *_ = [step for step in result.stack if step.verdict.saves]
    well = result.alone[0].fresh_before
    hung = well[0].model_copy(update={"outcome": "hung", "run": "runs/1/boots/baseline-fresh1-s4"})
    none = {"verdict": Verdict.NO_VERDICT, "saved_ns": None, "stack": "ladder", "fresh_members": well[1:3]}
    steps = [
        first.model_copy(update={**none, "fresh_before": [hung, *well[1:]]}),
        second.model_copy(update={**none, "fresh_before": []}),
    ]
    end = next(iter(result.final.values()))
    told = " ".join(try_markdown(result.model_copy(update={"stack": steps, "final": {"ladder": end}})).split())
    assert (
        f"No verdict on `{first.technique}`: without it not all boots are well (1 of 8 fresh ones, "
        "baseline-fresh1-s4: hung); with it all are." in told
    )
    assert f"No verdict on `{second.technique}`: without it not all boots are well; with it all are." in told
    assert "*Saved* of" not in told


def test_what_got_longer_without_a_proof_says_so() -> None:
    longer = next(one for one in trial().alone if one.verdict is Verdict.LONGER)
    for proof, said in ((Effect.PROVEN, ""), (Effect.NOT_SHOWN, " (not shown)"), (Effect.NONE, " (no effect)")):
        result = trial().model_copy(update={"alone": [longer.model_copy(update={"proof": proof})]})
        assert f"Longer: `{longer.technique}`{said}." in try_markdown(result)
