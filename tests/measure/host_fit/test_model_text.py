"""A fitted model as text: whatever the host is called, it is TOML."""

import tomllib

from bootlab.measure.host_fit.model_text import model_text
from bootlab.measure.host_fit.result import FittedFigure
from bootlab.price.classes import CLASSES


def figure(name: str, ns: float) -> FittedFigure:
    return FittedFigure(name=name, ns=ns, low_ns=ns, high_ns=ns, samples=4, outliers=1, by_guest_ns=(ns,))


def test_a_host_of_any_name_is_toml() -> None:
    figures = {name: figure(name, 1000.4) for name in (*CLASSES, "fault_4K", "fault_2M", "instruction")}
    text = model_text("m", 'CPU "\\ \n\x00' + "x" * 300, "svm", "4K", figures, {})
    read = tomllib.loads(text)
    assert read["words"].startswith("CPU '/ xxx") and len(read["words"]) <= 200
    assert read["exit"]["cr"] == {
        "ns": 1000, "source": "timed: median of 4 batches, the middle half 1,000 to 1,000 ns, 1 outliers",
    }  # fmt: skip


def test_an_instruction_is_within_what_a_model_takes() -> None:
    figures = {name: figure(name, 1000.4) for name in (*CLASSES, "fault_4K", "fault_2M", "instruction")}
    assert tomllib.loads(model_text("m", "", "svm", "4K", figures, {}))["instruction"]["ns"] == 100
