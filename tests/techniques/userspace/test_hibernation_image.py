"""How large an image of the memory is: what a machine does before it makes one, and what it then says of it."""

from collections.abc import Callable

import pytest

from bootlab.techniques.model.evidence import Effect, Evidence
from tests.techniques.asking import ALL, applied, why_not
from tests.techniques.changes.test_before_sleep import hibernated, suspended

Make = Callable[..., Evidence]
SMALLEST, CACHES = "userspace_image_smallest", "userspace_image_caches"


def image(make: Make, cache_kib: int, swapped_kib: int) -> Evidence:
    return make(image_page_cache_kib=str(cache_kib), image_swapped_kib=str(swapped_kib))


def test_each_writes_its_own_file_and_they_stack() -> None:
    both = applied(CACHES, applied(SMALLEST, hibernated()))
    assert both.rootfs is not None
    assert {name: text for name, text in both.rootfs.texts.items() if "sleep.d" in name} == {
        "/etc/bootlab/sleep.d/image-smallest": "write /sys/power/image_size 0\n",
        "/etc/bootlab/sleep.d/image-caches": "keep caches\n",
    }


@pytest.mark.parametrize("name", [SMALLEST, CACHES])
def test_a_machine_that_makes_no_image_is_told_so(name: str) -> None:
    assert why_not(name, suspended()) == 'no image of the memory is made: power_on.kind = "hibernated"'


def test_the_smallest_is_proved_by_what_it_lacks(evidence: Make) -> None:
    prove, before = ALL[SMALLEST].proof.prove, image(evidence, 6412, 0)
    assert prove(image(evidence, 4860, 0), before) is prove(image(evidence, 6412, 3096), before) is Effect.PROVEN
    assert prove(image(evidence, 6412, 0), before) is prove(image(evidence, 7000, 0), before) is Effect.NONE
    assert prove(evidence(), before) is prove(before, evidence()) is Effect.NOT_SHOWN


def test_the_caches_are_proved_by_what_is_in_it(evidence: Make) -> None:
    prove, before = ALL[CACHES].proof.prove, image(evidence, 6412, 0)
    assert prove(image(evidence, 9000, 0), before) is Effect.PROVEN
    assert prove(image(evidence, 6412, 0), before) is Effect.NONE
    assert prove(evidence(), before) is prove(before, evidence(image_page_cache_kib="many")) is Effect.NOT_SHOWN
