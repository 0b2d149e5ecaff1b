"""A board whose SPL goes on from a hibernation image on its card, and each way in which that is refused.

Real boots of a small board with busybox, and of the camera board, whose card has a rate. The boot before hibernates;
what is wrong with its image is said, and the card is booted in the same power-on.
"""

import shutil

import pytest

from bootlab.experiments.series import are_identical
from bootlab.measure.line_and_card_cost import board_terms
from bootlab.measure.record import BootRecord, Outcome
from bootlab.sources import EXAMPLES
from bootlab.system import Fault, PowerOn, PowerOnKind, System, read_system
from bootlab.timeline import marks as m
from tests.boot.conftest import Boot

pytestmark = [
    pytest.mark.boot,
    pytest.mark.network,
    pytest.mark.kernel,
    pytest.mark.skipif(shutil.which("qemu-system-arm") is None, reason="needs qemu-system-arm"),
]


@pytest.fixture(scope="module", params=["hibernated-board", "hibernated-camera"])
def cold(request: pytest.FixtureRequest) -> System:
    return read_system(EXAMPLES / "persistence" / f"{request.param}.toml")


def found(cold: System, fault: Fault | None = None) -> System:
    return cold.model_copy(update={"power_on": PowerOn(kind=PowerOnKind.HIBERNATED, fault=fault)})


def source(record: BootRecord) -> tuple[str | None, str | None]:
    assert record.outcome is Outcome.READY and record.power_on is not None, record.detail
    return record.power_on.source, record.power_on.refused


def test_spl_puts_an_image_into_its_place_and_the_kernel_in_it_wakes(run_boot: Boot, cold: System) -> None:
    woken = [run_boot(found(cold)) for _ in range(3)]
    assert source(woken[0]) == ("image", None)
    assert are_identical(woken)
    marks = list(woken[0].marks)
    order = [m.SPL_ENTRY, "resuming", m.KERNEL_JUMP, "woke", m.READY]
    assert [name for name in marks if name in order] == order
    # No kernel has booted.
    assert not {m.IMAGE_ENTRY, m.KERNEL_ENTRY, m.START_KERNEL} & set(marks)
    terms = board_terms(woken[0])
    assert (terms is None) == (cold.board_model is None)
    if terms is not None:
        # Of this power-on, not of the one that made the image; the kernel that wakes reads nothing from the card.
        read = sum(phase.read_bytes or 0 for phase in woken[0].phases)
        assert terms.kernel_card_ns == 0
        assert terms.loader_card_ns is not None and read * 25 < terms.loader_card_ns < read * 64


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault.OTHER_KERNEL, "it is of another kernel"),
        (Fault.OLD_IMAGE, "it is of another card"),
        (Fault.IMAGE_CUT, "it is damaged: what is packed is none"),
        (Fault.NO_IMAGE, None),
    ],
)
def test_what_is_wrong_is_said_and_the_card_is_booted(
    run_boot: Boot, cold: System, fault: Fault, said: str | None
) -> None:
    record = run_boot(found(cold, fault))
    assert source(record) == (None, said)
    assert m.START_KERNEL in record.marks and ("hibernation_refused" in record.marks) == (said is not None)


def test_a_card_without_an_image_is_booted(run_boot: Boot, cold: System) -> None:
    without = run_boot(cold)
    assert without.outcome is Outcome.READY and m.START_KERNEL in without.marks
    assert "resuming" not in without.marks and "hibernation_refused" not in without.marks
