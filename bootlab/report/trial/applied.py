"""A stack of a trial that became files: the account beside them."""

from bootlab.experiments.trial.result import StackName, TryResult
from bootlab.report.applied import ApplyDocument, Found, files_sections
from bootlab.report.parts.figures import ms, ratio_words
from bootlab.report.parts.markdown import code, markdown_table, plain
from bootlab.report.trial.markdown import measured_on
from bootlab.report.trial.words import kept_steps, time_words


def found_stack(result: TryResult, stack: StackName) -> Found:
    """Return what a trial found by one of its stacks."""
    finished = result.final[stack]
    return Found(
        run=result.run,
        system=result.system,
        stack=stack,
        techniques=finished.techniques,
        before_ns=result.baseline.total_ns,
        after_ns=finished.total_ns,
    )


def stack_account(result: TryResult, stack: StackName, document: ApplyDocument) -> str:
    """Return the Markdown page that lies beside the files: what each step saved, what each file is, what is by hand."""
    steps = [step for name in (StackName.RECOMMENDED, stack) for step in kept_steps(result, name)]
    unique = {step.technique: step for step in steps if step.technique in document.techniques}
    rows = [["baseline", "", ms(result.baseline.total_ns), ""]]
    rows += [[code(one.technique), ms(one.saved_ns), ms(one.total_ns), plain(one.risk)] for one in unique.values()]
    parts = [
        f"# {plain(result.system)}: the {stack} stack as files",
        markdown_table(["step", "saved ms>", f"{time_words(result)} ms>", "risk"], rows),
        f"{result.final[stack].ratio:.2f}x {ratio_words(result.clock)}.",
        measured_on(result),
        *files_sections(document, boots="gives the figure above again"),
    ]
    return "\n\n".join(parts) + "\n"
