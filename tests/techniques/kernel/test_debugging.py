"""Checks and debug information: what another option holds on to stays, and what is not there is not left out."""

from bootlab.system import System
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.technique import Layer

KERNEL = {technique.name: technique for technique in load_catalogue() if technique.change.layer is Layer.KERNEL}


def test_a_check_that_another_option_asks_for_is_left(built: System) -> None:
    checks = KERNEL["kernel_debug_checks_off"].change
    debian_12 = Measured({}, {}, {}, "", {"DEBUG_LIST": "y", "BUG_ON_DATA_CORRUPTION": "y", "KFENCE": "y"})
    asked = checks.apply(built, debian_12).kernel.build
    assert asked is not None and asked.options == {"EXPERT": "y", "KFENCE": "n"}
    alone = Measured({}, {}, {}, "", {"DEBUG_LIST": "y"})
    asked = checks.apply(built, alone).kernel.build
    assert asked is not None and asked.options == {"EXPERT": "y", "DEBUG_LIST": "n"}


def test_a_kernel_without_debug_information_is_left_alone(built: System) -> None:
    # The choice itself is only there with DEBUG_KERNEL, so DEBUG_INFO_NONE need not be on.
    without = Measured({}, {}, {}, "", {"SMP": "y"})
    assert "DEBUG_INFO is off" in (KERNEL["kernel_debug_info_off"].change.applies(built, without) or "")
