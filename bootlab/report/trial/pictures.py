"""Says in one sentence which steps and techniques of a trial changed a picture of the screen, and at which marks.

Pictures of the screen, at login-window, desktop: each step shows those of before, but rootfs_x has another at desktop.
"""

from bootlab.experiments.trial.result import Judged, TryResult
from bootlab.report.parts.figures import visible
from bootlab.report.trial.words import in_order


def pictures_words(result: TryResult) -> str:
    """Return it; empty for a system whose boots have no pictures of marks, and in older results.

    What was not compared, because its boots were not all well, is counted.
    """
    rows = [one for one in [*in_order(result.alone), *result.stack] if one.same_pictures]
    if not rows:
        return ""
    marks = list(dict.fromkeys(mark for one in rows for mark in one.same_pictures))
    every = f"Pictures of the screen, at {', '.join(map(visible, marks))}"
    others = [words for one in rows if (words := _others(one))]
    each = "each technique and step" if result.alone and result.stack else "each step" if result.stack else "each"
    but = f", but {'; '.join(others)}" if others else ""
    booted = [one for one in [*result.alone, *result.stack] if one.members]
    left = f"; not compared: {len(booted) - len(rows)}" if len(booted) > len(rows) else ""
    return f"{every}: {each} shows those of before{but}{left}."


def _others(one: Judged) -> str:
    marks = [visible(mark) for mark, same in one.same_pictures.items() if not same]
    return f"{visible(one.technique)} has another at {', '.join(marks)}" if marks else ""
