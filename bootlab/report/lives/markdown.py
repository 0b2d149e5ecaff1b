"""A disk image's lives in Markdown: their phases, what only the first did, what was chance, and on what."""

from bootlab.experiments.chance import Chance
from bootlab.experiments.lives.result import LivesResult, OnlyFirst
from bootlab.measure.record import BootRecord, Outcome
from bootlab.report.boots.side_by_side import Side, align
from bootlab.report.lives.words import life_words, process_words, rest_words, step_words, title
from bootlab.report.parts.figures import clock_of, median_boot, ms, short_hashes
from bootlab.report.parts.markdown import code, markdown_table, plain, prose


def lives_markdown(result: LivesResult) -> str:
    """Return the lives side by side, the steps in which the first differs from the last, and each chance by seed."""
    parts = [f"{prose(plain(title(result)))}; ms:", _phases(result)]
    if result.only_first:
        last = result.lives[-1].life
        parts += [f"Where life 1 differs from life {last}, ms:", _only_first(result, last)]
        parts.append(prose(f"{rest_words(result)[0].upper()}{rest_words(result)[1:]}."))
    for chance in result.chances:
        parts += _chance(result, chance)
    boots = [record for one in result.lives for record in one.boots]
    parts.append(prose(f"{clock_of(boots)}. {short_hashes(result.lives[-1].boots[0].hashes)}."))
    return "\n\n".join(parts) + "\n"


def _phases(result: LivesResult) -> str:
    middles = [median_boot(one.boots) for one in result.lives]
    sides = [Side("", "", record.ready_ns, record.phases) for record in middles]
    rows = [[plain(row.name), *map(ms, row.durations_ns())] for row in align(sides)]
    rows += [[f"up to {code(mark)}", *(ms(one.marks.get(mark)) for one in middles)] for mark in _more_marks(middles)]
    ready = [ms(one.ready.median_ns) if one.ready else _outcome(one.boots) for one in result.lives]
    rows.append(["power-on to ready", *ready])
    if any(len(one.boots) > 1 for one in result.lives):
        rows.append(["shortest", *(ms(one.ready.min_ns) if one.ready else "" for one in result.lives)])
        rows.append(["longest", *(ms(one.ready.max_ns) if one.ready else "" for one in result.lives)])
    if result.chances:
        rows.append(["without what is chance", *map(life_words, result.lives)])
    return markdown_table(["", *(f"life {one.life}>" for one in result.lives)], rows)


def _more_marks(records: list[BootRecord]) -> list[str]:
    """Return the marks of all boots that bound no phase of theirs, in the order of the first one's."""
    bounds = {phase.end for record in records for phase in record.phases} | {
        record.phases[0].start for record in records
    }
    return [
        name
        for name, t_ns in records[0].marks.items()
        if name not in bounds and t_ns != records[0].ready_ns and all(name in one.marks for one in records)
    ]


def _outcome(boots: list[BootRecord]) -> str:
    return plain(next(one.outcome.value for one in boots if one.outcome is not Outcome.READY))


def _only_first(result: LivesResult, last: int) -> str:
    rows = [
        [plain(step_words(step)), ms(step.first_ns), ms(step.later_ns), ms(step.first_ns - step.later_ns), _said(step)]
        for step in result.only_first
    ]
    return markdown_table(["up to the line", "life 1>", f"life {last}>", "more>", "what life 1 alone said"], rows)


def _said(step: OnlyFirst) -> str:
    kinds = f"**{', '.join(step.kinds)}** " if step.kinds else ""
    more = f" (and {step.said_count - 1} lines more)" if step.said_count > 1 else ""
    return f"{kinds}{plain(step.said[0])}{more}" if step.said else kinds.strip()


def _chance(result: LivesResult, chance: Chance) -> list[str]:
    boots = {str(one.seed): one for life in result.lives if life.life == chance.life for one in life.boots}
    kinds = f" ({', '.join(chance.kinds)})" if chance.kinds else ""
    rows = [
        [seed, ms(boots[seed].ready_ns if seed in boots else None), ms(took_ns),
         *(ms(process.ran_ns.get(seed)) for process in chance.processes)]
        for seed, took_ns in chance.took_ns.items()
    ]  # fmt: skip
    titles = ["seed>", "power-on to ready>", "the step>", *(f"of it {code(one.command)}>" for one in chance.processes)]
    head = f'Chance, life {chance.life}{kinds}, up to the line "{plain(step_words(chance))}", ms:'
    said = [f"{plain(process_words(one))}." for one in chance.processes]
    return [prose(head), markdown_table(titles, rows), *map(prose, said)]
