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


@pytest.mark.parametrize(
    ("changes", "key"), [({"booted": {"mark": "mounts"}}, "booted.mark"), ({"check": {"mark": "mounts"}}, "check.mark")]
)
def test_a_function_of_the_kernels_says_neither_ready_nor_well(
    changes: dict[str, Any], key: str, tmp_path: Path
) -> None:
    values = {
        "name": "made-up",
        "machine": {"type": "microvm"},
        "kernel": {"image": tmp_path / "none"},
        "booted": {"mark": "ready"},
        "marks": {"mounts": "prepare_namespace"},
    }
    with pytest.raises(InputError, match=rf"^{key}: 'mounts' is a function of the kernel's in \[marks\]"):
        prepare(Workshop(Cache(tmp_path)), System.model_validate({**values, **changes}))


def test_a_machine_that_no_snapshot_can_hold_is_refused_ahead_of_its_files(tmp_path: Path) -> None:
    values = {
        "name": "made-up",
        "machine": {"type": "q35"},
        "kernel": {"image": tmp_path / "none"},
        "disks": [{"size_mib": 16, "model": "ssd"}],
        "booted": {"mark": "ready"},
    }
    with pytest.raises(InputError, match="disk0: a disk with a model, .* is not in a snapshot"):
        prepare(Workshop(Cache(tmp_path)), System.model_validate(values), keeps=True)
    with pytest.raises(InputError, match=r"kernel\.image"):
        prepare(Workshop(Cache(tmp_path)), System.model_validate(values))
