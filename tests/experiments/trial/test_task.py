"""What a trial is asked, as its parts take it."""

from dataclasses import replace

from bootlab.experiments.trial.task import TrialTask
from tests.replayed import BY_GAIN, word


def test_the_symbols_that_any_proof_looks_at_are_watched_once() -> None:
    one, two, three = (word(name) for name in ("one", "two", "three"))
    one = replace(one, proof=replace(one.proof, watch=("late_init", "early_init")))
    two = replace(two, proof=replace(two.proof, watch=("late_init",)))
    task = TrialTask([one, two, three], BY_GAIN, seeds=[1])
    assert task.watch == ("early_init", "late_init")
    assert list(task.by_name) == ["one", "two", "three"]
