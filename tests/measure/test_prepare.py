"""What is refused before anything is made for a boot."""

from pathlib import Path
from typing import Any

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.measure.prepare import prepare
from bootlab.system import System


@pytest.mark.parametrize("clock", ["virtual", "wall"])
@pytest.mark.parametrize(
    ("changes", "key"),
    [({"booted": {"mark": "kernel_entry"}}, "booted.mark"), ({"check": {"mark": "init_exec"}}, "check.mark")],
)
def test_a_mark_of_bootlabs_own_is_not_the_guests_to_make(
    changes: dict[str, Any], key: str, clock: str, tmp_path: Path
) -> None:
    values = {
        "name": "made-up",
        "machine": {"type": "microvm"},
        "clock": {"kind": clock},
        "kernel": {"image": tmp_path / "none"},
        "booted": {"mark": "ready"},
    }
    with pytest.raises(InputError, match=rf"^{key}: '\w+' is a mark that bootlab makes itself"):
        prepare(Workshop(Cache(tmp_path)), System.model_validate({**values, **changes}))
