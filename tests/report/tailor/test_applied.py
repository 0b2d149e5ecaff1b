"""The account of a fitted kernel that became files."""

from pathlib import Path

import pytest

from bootlab.build.deployment.carried import Carried
from bootlab.errors import InputError
from bootlab.report.applied import Written, apply_document, apply_view
from bootlab.report.tailor.applied import found_kernel, kernel_account
from tests.report.tailor.test_reasons import COMPARISON, RESULT


def test_the_account_says_what_the_kernel_was_fitted_to_and_by_what_it_is_priced(tmp_path: Path) -> None:
    document = apply_document(found_kernel(RESULT), Carried(), Written(tmp_path))
    page = kernel_account(RESULT, document)
    assert "the kernel that bootlab tailor fitted" in page and "reasons.txt" in page
    assert "the kernel that bootlab tailor fitted to its check" in str(apply_view(document).lines[0])
    priced = RESULT.model_copy(update={"comparison": COMPARISON.model_copy(update={"price": "lean"})})
    assert "2.00 -> 1.00 ms of price by lean, shorter" in kernel_account(priced, document)


def test_a_kernel_that_was_not_ready_is_refused() -> None:
    hung = COMPARISON.model_copy(update={"after_ns": None, "detail": "hung"})
    with pytest.raises(InputError, match="the fitted kernel is not ready: hung"):
        found_kernel(RESULT.model_copy(update={"comparison": hung}))
