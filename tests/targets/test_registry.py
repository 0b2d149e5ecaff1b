"""Every kind of target that a system file can name is registered, and so is the one of a system that names none."""

from typing import get_args

from bootlab.system.target import target as settings
from bootlab.targets.registry import EMULATED, TARGETS


def test_each_kind_has_its_target() -> None:
    union, *_ = get_args(settings.Target)
    kinds = [get_args(kind.model_fields["kind"].annotation)[0] for kind in get_args(union)]
    assert sorted([EMULATED, *kinds]) == sorted(TARGETS)
