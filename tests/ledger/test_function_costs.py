"""What the functions of a profile took, as a file and back."""

from pathlib import Path

import pytest

from bootlab.ledger.function_costs import costs_text, function_costs, parse_costs
from tests.cli.conftest import write_profile_run


def test_a_profile_says_what_each_function_took_itself_and_with_its_calls(tmp_path: Path) -> None:
    costs = function_costs(write_profile_run(tmp_path))
    # 700 us of it is idle time that it waited for.
    assert costs["alg_test"] == (2_000_000, 2_000_000)
    assert costs["tpm_init"][1] == 2_750_000
    assert "[wait]" not in costs
    assert "cryptomgr_test" in costs and "cryptomgr_test-70" not in costs, "numbers of tasks mean nothing elsewhere"
    assert parse_costs(costs_text(costs)) == costs


@pytest.mark.parametrize(
    "text", ["", "[]", '{"a":1}', '{"a":[1]}', '{"a":[1,-2]}', '{"a":[1,2.5]}', '{"a":[1,1e99]}', '{"a":[NaN,1]}']
)
def test_a_damaged_file_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="no table of functions|a time that is none"):
        parse_costs(text)
