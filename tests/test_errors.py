"""Errors that a user can meet: which of them is Ctrl-C."""

import pytest
from pydantic import BaseModel, model_serializer
from pydantic_core import PydanticSerializationError

from bootlab.errors import InputError, Interrupted, is_interruption


class _Interrupted(BaseModel):
    @model_serializer
    def said(self) -> str:
        raise KeyboardInterrupt


def test_ctrl_c_while_pydantic_writes_json_is_one() -> None:
    """What pydantic makes of it, by pydantic itself."""
    with pytest.raises((KeyboardInterrupt, PydanticSerializationError)) as caught:
        _Interrupted().model_dump_json()
    assert is_interruption(caught.value)


@pytest.mark.parametrize(
    ("error", "is_one"),
    [
        (KeyboardInterrupt(), True),
        (Interrupted("interrupted"), True),
        (PydanticSerializationError("Error serializing to JSON: KeyboardInterrupt: "), True),
        (PydanticSerializationError("Unable to serialize unknown type"), False),
        (ValueError("KeyboardInterrupt"), False),
        (InputError("KeyboardInterrupt"), False),
    ],
)
def test_what_is_an_interruption(error: BaseException, is_one: bool) -> None:
    assert is_interruption(error) is is_one
