"""The systems that a run ended in are kept, and found again."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.experiments.kept_systems import keep_systems, read_systems
from bootlab.experiments.trial.result import StackName
from tests.replayed import answer, new_run, replayed, trial, word


def test_the_system_of_each_stack_is_kept_and_read_again(tmp_path: Path) -> None:
    system, run = replayed(tmp_path, answer("fast", later_ns=-5_000_000)), new_run(tmp_path)
    tried = trial(tmp_path, system, [word("fast")], run=run)
    tried.run()
    keep_systems(run.path, system, tried.reached.items())
    before, after = read_systems(run, StackName.WITH_RISKS)
    assert before == system
    assert after == system.with_cmdline("fast") == tried.reached[StackName.WITH_RISKS]
    assert set(tried.reached) == {StackName.RECOMMENDED, StackName.WITH_RISKS}
    (run.path / "systems/recommended.toml").unlink()
    with pytest.raises(InputError, match="did not keep it"):
        read_systems(run, StackName.RECOMMENDED)
