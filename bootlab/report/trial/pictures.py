"""Says in one paragraph which steps and techniques of a trial changed a picture of the screen, and which marks' ones.

Of the marks desktop, login-window: a picture of before is shown behind each step but `fonts_cached`: desktop.
"""

from bootlab.experiments.trial.result import Judged, TryResult
from bootlab.report.parts.figures import visible
from bootlab.report.trial.words import in_order


def pictures_words(result: TryResult) -> str:
    """Return it; empty for a system whose boots have no pictures of marks, and in older results."""
    rows = [one for one in [*in_order(result.alone), *result.stack] if one.same_pictures]
    if not rows:
        return ""
    marks = list(dict.fromkeys(mark for one in rows for mark in one.same_pictures))
    every = f"pictures of the screen, at {', '.join(map(visible, marks))}"
    others = [words for one in rows if (words := _others(one))]
    each = "each technique and step" if result.alone and result.stack else "each step" if result.stack else "each"
    if not others:
        return f"{every}: {each} shows those of before"
    return f"{every}: {each} shows those of before, but {'; '.join(others)}"


def _others(one: Judged) -> str:
    marks = [visible(mark) for mark, same in one.same_pictures.items() if not same]
    return f"{visible(one.technique)} has another at {', '.join(marks)}" if marks else ""
