"""What of a boot was loading by a model, and of which boots nobody can tell."""

import pytest

from bootlab.measure.line_and_card_cost import modelled_load_ns
from bootlab.system import BoardModel
from tests.report.steps import series

CARD = BoardModel(storage_mib_s=14.9)


@pytest.mark.parametrize(
    ("board_model", "facts", "expected"),
    [
        (None, {}, None),
        (CARD, {"board_model.loader_storage_ns": "118711000"}, 118_711_000),
        (CARD, {"board_model.loader_storage_ns": "0"}, 0),
        # A kernel without /sys cannot tell: that is not a card that took no time.
        (CARD, {}, None),
    ],
)
def test_loading_by_a_board_model_is_what_its_guest_tells(
    board_model: BoardModel | None, facts: dict[str, str], expected: int | None
) -> None:
    told = {"board_model": board_model, "storage": None, "load_ns": 0, "facts": facts}
    assert modelled_load_ns(series("series-before.json")[0].model_copy(update=told)) == expected
