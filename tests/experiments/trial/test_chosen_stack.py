"""The stack of a trial that is asked for, by either spelling."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.experiments.trial.chosen_stack import choose_stack
from bootlab.experiments.trial.result import StackName
from tests.replayed import answer, new_run, replayed, trial, word


def test_a_stack_is_found_by_either_spelling_and_one_that_is_not_there_is_refused(tmp_path: Path) -> None:
    system = replayed(tmp_path, answer("fast", later_ns=-5_000_000))
    result = trial(tmp_path, system, [word("fast")], run=new_run(tmp_path)).run()
    assert choose_stack(result, "with-risks") is choose_stack(result, "with risks") is StackName.WITH_RISKS
    assert choose_stack(result, None) in StackName
    with pytest.raises(InputError, match="no such stack"):
        choose_stack(result, "ladder")
