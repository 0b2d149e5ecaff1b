"""What each package cost a boot, in Markdown: the two tables, the sum, the proof, and what it was measured on."""

from bootlab.experiments.packages.result import PackagesResult
from bootlab.report.findings.packages_words import (
    clock_of,
    closing,
    head_of,
    name_of,
    proof_lines,
    split_rows,
    what_of,
)
from bootlab.report.parts.figures import ms, percent, short_hashes
from bootlab.report.parts.markdown import code, markdown_table, plain, prose


def packages_markdown(result: PackagesResult) -> str:
    """Return the tables of a result."""
    costs = result.costs
    removable, kept, left_ns = split_rows(costs.rows, costs.total_ns)
    first = [
        [code(row.name), ms(row.gone_ns), ms(row.cost_ns), plain(what_of(row)), ", ".join(map(code, row.along))]
        for row in removable
    ]
    second = [
        [plain(name_of(row)), ms(row.cost_ns), percent(row.cost_ns, costs.total_ns), plain(row.kept or what_of(row))]
        for row in kept
    ]
    second.append(["all others", ms(left_ns), percent(left_ns, costs.total_ns), "each below 0.05 %"])
    parts = [
        prose(plain(f"{costs.system}: {head_of(result)}.")),
        markdown_table(["can be removed", "gone ms>", "own ms>", "what", "with it"], first),
        markdown_table(["stays", "own ms>", "%>", "why, or what"], second),
        prose(f"{closing(result)}."),
    ]
    if result.proof is not None:
        parts += [prose(plain("; ".join(proof_lines(result.proof)) + "."))]
    parts.append(prose(f"{clock_of(result)}. {short_hashes(costs.hashes)}."))
    return "\n\n".join(parts)
