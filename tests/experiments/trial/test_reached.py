"""The systems that stacks ended in are kept, and found again."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.experiments.trial.reached import choose_stack, keep_systems, read_reached
from bootlab.experiments.trial.result import StackName
from tests.replayed import answer, new_run, replayed, trial, word


def test_the_system_of_each_stack_is_kept_and_read_again(tmp_path: Path) -> None:
    system, run = replayed(tmp_path, answer("fast", later_ns=-5_000_000)), new_run(tmp_path)
    tried = trial(tmp_path, system, [word("fast")], run=run)
    result = tried.run()
    keep_systems(run.path, system, tried.reached)
    stack = choose_stack(result, None)
    before, after = read_reached(run, stack)
    assert before == system
    assert after == system.with_cmdline("fast") == tried.reached[stack]
    assert set(tried.reached) == {StackName.RECOMMENDED, StackName.WITH_RISKS}
    assert choose_stack(result, "with-risks") is choose_stack(result, "with risks") is StackName.WITH_RISKS
    with pytest.raises(InputError, match="it has no|no such stack"):
        choose_stack(result, "ladder")
    (run.path / "systems/recommended.toml").unlink()
    with pytest.raises(InputError, match="did not keep it"):
        read_reached(run, StackName.RECOMMENDED)
