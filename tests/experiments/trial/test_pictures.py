"""What the screen showed at a mark is the same behind a change where one boot of each side has the same picture."""

from collections.abc import Mapping
from dataclasses import replace

from bootlab.experiments.family import Family
from bootlab.experiments.trial.judging import judge
from bootlab.experiments.trial.pictures import same_pictures
from bootlab.measure.record import BootRecord, Outcome, PictureRecord, ScreenRecord
from tests.experiments.trial.test_judging import LOUD, QUIET, TECHNIQUE, family, record


def shown(one: BootRecord, pictures: Mapping[str | None, str]) -> BootRecord:
    """Return a boot with a picture of each mark; a picture of no mark is one of the film."""
    kept = [
        PictureRecord(mark=mark, t_ns=1, width=2, height=2, pixels_sha256=pixels, file="screen/1.png")
        for mark, pixels in pictures.items()
    ]
    return one.model_copy(update={"screen": ScreenRecord(looks=9, frames=2, after={}, frames_up_to={}, pictures=kept)})


def showing(whole: Family, *pictures: Mapping[str | None, str]) -> Family:
    """Return a family whose members show these."""
    return replace(whole, members=tuple(map(shown, whole.members, pictures)))


def test_one_picture_that_both_sides_show_is_enough() -> None:
    before = showing(family(9, 9, facts=LOUD), {"login": "a", "desktop": "d"}, {"login": "b", "desktop": "d"})
    after = showing(family(8, 8, facts=LOUD), {"login": "b", "desktop": "e"}, {"login": "c", "desktop": "e"})
    assert same_pictures(before, after) == {"login": True, "desktop": False}


def test_the_film_does_not_count_and_a_mark_without_a_picture_is_another() -> None:
    before = showing(family(9, facts=LOUD), {None: "a", "desktop": "d"})
    assert same_pictures(before, showing(family(9, facts=LOUD), {None: "z"})) == {"desktop": False}


def test_boots_without_a_screen_have_none() -> None:
    assert same_pictures(family(9, facts=LOUD), family(9, facts=LOUD)) == {}


def test_a_row_says_it_with_a_verdict_or_without_one() -> None:
    before = showing(family(1000, 1010, facts=LOUD, null=(1005,)), {"desktop": "d"}, {"desktop": "d"})
    after = showing(family(900, 910, facts=QUIET), {"desktop": "d"}, {"desktop": "d"})
    assert judge(TECHNIQUE, before, after, wall=False).same_pictures == {"desktop": True}
    unsteady = replace(before, fresh=(record(1000, LOUD, outcome=Outcome.HUNG),))
    judged = judge(TECHNIQUE, unsteady, after, wall=False)
    assert judged.verdict == "no verdict" and judged.same_pictures == {"desktop": True}
    broken = replace(after, fresh=(record(900, QUIET, outcome=Outcome.HUNG),))
    assert judge(TECHNIQUE, before, broken, wall=False).same_pictures == {}
