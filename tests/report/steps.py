"""Four systems in order, for tests of what shows them. Made-up figures: shifted copies of the fixtures beside it."""

import json
from itertools import pairwise
from pathlib import Path

from bootlab.experiments.comparing import Steps, compare_steps
from bootlab.experiments.family import Family
from bootlab.measure.record import BootRecord, Outcome

DATA = Path(__file__).parents[1] / "data" / "report"


def series(name: str) -> list[BootRecord]:
    """Return the boots of a fixture."""
    return [BootRecord.model_validate(item) for item in json.loads((DATA / name).read_text())]


def shifted(boots: list[BootRecord], name: str, ns: int) -> list[BootRecord]:
    """Return the boots as those of another system whose last phase takes `ns` more."""
    made = []
    for record in boots:
        last = record.phases[-1]
        phases = [*record.phases[:-1], last.model_copy(update={"duration_ns": last.duration_ns + ns})]
        marks = {**record.marks, "ready": record.marks["ready"] + ns}
        made.append(record.model_copy(update={"system": name, "marks": marks, "phases": phases}))
    return made


def four_systems() -> list[list[BootRecord]]:
    """Return boots that get shorter, hardly change, and get longer."""
    before, after = series("series-before.json"), series("series-after.json")
    return [before, after, shifted(after, "hardly", 500), shifted(after, "longer", 90_000_000)]


def families(systems: list[list[BootRecord]]) -> list[Family]:
    """Return each with null changes that move it as much as its seeds do, and with fresh boots that do so as well."""
    return [Family(tuple(boots), tuple(boots), fresh=tuple(boots)) for boots in systems]


def steps_of(sides: list[Family]) -> Steps:
    """Return the comparison of each with the one before it."""
    return compare_steps(list(pairwise(sides)), (sides[0], sides[-1]))


def four_steps() -> Steps:
    """Return the comparison of the four."""
    return steps_of(families(four_systems()))


def with_a_failure() -> tuple[Steps, list[list[BootRecord]]]:
    """Return the comparison of three of which the second never got ready, and their boots."""
    before, after, third, _ = four_systems()
    hung = [
        record.model_copy(update={"outcome": Outcome.HUNG, "detail": "nothing for 5 s", "marks": {}})
        for record in after
    ]
    boots = [before, hung, third]
    return steps_of(families(boots)), boots
