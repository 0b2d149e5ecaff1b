"""Values that are tried on a fitted kernel: what they change there, and which are not tried at all."""

from pathlib import Path

import pytest

from bootlab.experiments.tailor.protected import Policy
from bootlab.experiments.tailor.values import Value, find_change
from tests.build.source.test_option_dependencies import tree
from tests.experiments.tailor.test_protected import system

CONFIG = "CONFIG_EXPERT=y\nCONFIG_NET=y\nCONFIG_IPV6=y\nCONFIG_HZ=100\n"


def test_what_a_value_changes_is_named(tmp_path: Path) -> None:
    found = tree(tmp_path, CONFIG)
    drop = find_change(found, Value("FULL", "y"), Policy(system()))
    assert not isinstance(drop, str)
    assert (drop.option, drop.value, drop.lost, drop.gained) == ("FULL", "y", ("NONE",), ())
    assert drop.why == "asked for with --try; it was n"
    drop = find_change(found, Value("NET", "n"), Policy(system()))
    assert not isinstance(drop, str) and drop.lost == ("IPV6", "LIBRARY")
    assert found.value("HZ") == "100" and "NET" in found.on, "nothing of it stays"


@pytest.mark.parametrize(
    ("value", "keep", "said"),
    [
        (Value("HZ", "100"), (), "it is 100 already"),
        (Value("HZ", "20"), (), "kconfig leaves it at 100"),
        (Value("LIBRARY", "n"), (), "kconfig leaves it at y"),
        (Value("NET", "n"), ("IPV6",), "IPV6 would go, asked for with --keep"),
        (Value("NET", "n"), ("NET",), "asked for with --keep"),
    ],
)
def test_a_value_that_is_not_tried(value: Value, keep: tuple[str, ...], said: str, tmp_path: Path) -> None:
    assert find_change(tree(tmp_path, CONFIG), value, Policy(system(), keep=keep)) == said
