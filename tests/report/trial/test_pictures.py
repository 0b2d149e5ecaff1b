"""Which steps of a trial changed a picture of the screen: a sentence in the terminal, on the page, in Markdown."""

from bootlab.experiments.trial.result import TryResult
from bootlab.report.boots.page import try_page
from bootlab.report.trial.markdown import try_markdown
from bootlab.report.trial.pictures import pictures_words
from bootlab.report.trial.text import try_result
from tests.report.boots.test_text import printed
from tests.report.trials import trial


def shown(*, changed: bool) -> TryResult:
    """Return a trial whose last step has, if `changed`, another desktop than the steps before it."""
    whole = trial()
    *others, last = whole.stack
    same = {"login": True, "desktop": True}
    stack = [one.model_copy(update={"same_pictures": same}) for one in others]
    stack.append(last.model_copy(update={"same_pictures": {**same, "desktop": not changed}}))
    return whole.model_copy(update={"stack": stack, "alone": []})


def test_a_trial_without_pictures_says_nothing() -> None:
    assert pictures_words(trial()) == "" and "ictures of the screen" not in try_markdown(trial())
    assert "ictures of the screen" not in printed(try_result(trial())) + try_page(trial())


def test_all_alike_is_one_sentence() -> None:
    assert pictures_words(shown(changed=False)) == (
        "Pictures of the screen, at login, desktop: each step shows those of before."
    )


def test_what_was_not_compared_is_counted() -> None:
    result = shown(changed=False)
    first, *others = result.stack
    broken = result.model_copy(update={"stack": [first.model_copy(update={"same_pictures": {}}), *others]})
    assert pictures_words(broken).endswith("shows those of before; not compared: 1.")


def test_a_step_with_another_picture_is_named_everywhere() -> None:
    result = shown(changed=True)
    words = f"{result.stack[-1].technique} has another at desktop"
    assert pictures_words(result).endswith(f"those of before, but {words}.")
    for text in (printed(try_result(result)), try_page(result), try_markdown(result)):
        assert words in " ".join(text.split())
