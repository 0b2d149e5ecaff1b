"""The microVM at its limit, built as shipped: three boots alike with the whole check, and figures on record."""

import pytest

from bootlab.build.workshop import Workshop
from bootlab.experiments.engine import Engine, Job
from bootlab.experiments.series import are_identical
from bootlab.experiments.store import RunKind, Store
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import read_system
from tests.boot.conftest import EXAMPLES
from tests.boot.recorded_figures import compare_with_record, figures

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]


@pytest.fixture(scope="module")
def three(shop: Workshop, tmp_path_factory: pytest.TempPathFactory) -> list[BootRecord]:
    """Return three boots of it."""
    prepared = prepare(shop, read_system(EXAMPLES / "microvm" / "limit.toml"))
    run = Store(tmp_path_factory.mktemp("limit")).start(RunKind.MEASURE, "limit", {})
    return Engine(run).boot_all([Job(str(number), prepared) for number in range(3)])


def test_three_boots_do_the_whole_check_and_are_identical(three: list[BootRecord]) -> None:
    assert [record.outcome for record in three] == [Outcome.READY] * 3, [record.detail for record in three]
    assert are_identical(three), [figures(record) for record in three]
    assert figures(three[0]) == figures(three[1]) == figures(three[2])


@pytest.mark.rolling
def test_another_machine_measured_the_same(three: list[BootRecord]) -> None:
    compare_with_record(three[0])
