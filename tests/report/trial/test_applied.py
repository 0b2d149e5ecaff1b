"""The account of a stack that became files: every step, every file, and what is by hand."""

from pathlib import Path

from bootlab.build.deployment.applied_files import carried
from bootlab.experiments.trial.chosen_stack import choose_stack
from bootlab.report.applied import Written, apply_document, apply_view
from bootlab.report.trial.applied import found_stack, stack_account
from tests.replayed import answer, replayed, trial, word


def test_every_step_and_file_is_in_the_account(tmp_path: Path) -> None:
    system = replayed(tmp_path, answer("fast", later_ns=-5_000_000))
    tried = trial(tmp_path, system, [word("fast")])
    result = tried.run()
    stack = choose_stack(result, None)
    made = carried(system, tried.reached[stack].with_part("machine", memory_mib=64))
    document = apply_document(found_stack(result, stack), made, Written(tmp_path / "out"))
    assert document.after_ns == result.final[stack].total_ns < document.before_ns
    page = stack_account(result, stack, document)
    assert "| `fast` | 5.00 |" in page
    assert "| `machine.memory_mib` |" in page and "virtual clock" in page
    said = "\n".join(map(str, apply_view(document).lines))
    assert all(f"  {one.path}: {one.use}" in said for one in document.files)
    assert "by hand, in no file:\n  machine.memory_mib: " in said
