"""Firmware without Secure Boot: to which systems it applies, and what a kernel says of it."""

import pytest

from bootlab.system import System
from bootlab.techniques.firmware.secure_boot import TECHNIQUES
from bootlab.techniques.model.evidence import Effect, Evidence, Measured
from bootlab.techniques.model.technique import Risk
from tests.techniques.bootloader.test_image_loader import image_system

(OFF,) = TECHNIQUES
NOTHING = Measured({}, {}, {}, "")
ON, OFF_LINE = "[    0.000000] secureboot: Secure boot enabled\n", "[    0.000000] secureboot: Secure boot disabled\n"


def with_it() -> System:
    return image_system().with_part("machine", secure_boot=True)


def test_it_applies_to_images_that_boot_so_and_takes_a_protection_away() -> None:
    assert OFF.change.applies(with_it(), NOTHING) is None and OFF.text.risk is Risk.SECURITY
    assert not OFF.change.apply(with_it(), NOTHING).machine.secure_boot
    assert "not signed, too" in str(OFF.change.applies(image_system(), NOTHING))


@pytest.mark.parametrize(
    ("after", "before", "effect"),
    [
        (OFF_LINE, ON, Effect.PROVEN),
        (ON, ON, Effect.NONE),
        ("", ON, Effect.NOT_SHOWN),
        (OFF_LINE, OFF_LINE, Effect.NOT_SHOWN),
    ],
)
def test_the_kernel_says_whether_it_is_on(after: str, before: str, effect: Effect) -> None:
    told = [Evidence({}, {}, {}, text, None) for text in (after, before)]
    assert OFF.proof.prove(*told) is effect
