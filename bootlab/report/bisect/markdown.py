"""What a bisection found in Markdown, for an issue or a message."""

from collections.abc import Iterator, Sequence

from bootlab.ledger.bisect.result import BisectResult, BisectStep
from bootlab.report.bisect.words import account_words, bounds, head_words, one_line, short, step_words, work_words
from bootlab.report.parts.figures import clock_sentence, ms, short_hashes
from bootlab.report.parts.markdown import bold, code, markdown_table, plain, prose


def bisection_markdown(result: BisectResult) -> str:
    """Return what a bisection found as Markdown."""
    span = f"{short(result.good)}..{short(result.bad)}"
    parts = [prose(f"{bold(plain(result.system))} {span}, {plain(head_words(result))}.")]
    if result.why:
        parts.append(prose(plain(result.why)))
    if rows := list(_rows(result.steps, "")):
        parts.append(markdown_table(["step", "author", "date", "longer ms>", "% of the whole>"], rows))
    for step in result.steps:
        if step.functions:
            grown = [
                [code(one.name), ms(one.before_ns), ms(one.after_ns), ms(one.after_ns - one.before_ns, sign=True)]
                for one in step.functions
            ]
            titles = [f"function across {short(step.after)}", "before ms>", "after ms>", "change ms>"]
            parts.append(markdown_table(titles, grown))
    if result.skipped:
        rows = [[short(one.state), plain(one_line(one.reason))] for one in result.skipped]
        parts.append(markdown_table(["passed over", "why"], rows))
    clock = clock_sentence(result.clock, result.ns_per_instruction, result.cpu, result.seeds, result.accelerator)
    said = [account_words(result)] if result.steps else []
    parts.append(prose(f"{'; '.join([*said, *bounds(result), work_words(result)])}. {clock}."))
    parts.append(prose(f"{short_hashes(result.hashes)}."))
    return "\n\n".join(parts) + "\n"


def _rows(steps: Sequence[BisectStep], within: str) -> Iterator[list[str]]:
    for step in steps:
        share = f"{100 * step.share:.0f}" if step.share is not None else ""
        single = step.kind == "commit"
        yield [
            f"{within}{plain(step_words(step))}",
            plain(step.after.author) if single else "",
            plain(step.after.date) if single else "",
            ms(step.longer_ns, sign=True),
            share,
        ]
        yield from _rows(step.inside, f"{within}in it: ")
