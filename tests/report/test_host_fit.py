"""A fitted host, shown: beside each figure that of `lean`, and words of strangers as they are, not as markup."""

from rich.console import Console

from bootlab.measure.host_fit.result import FittedFigure, HostFit
from bootlab.report.host_fit import fit_view


def figure(name: str, ns: float) -> FittedFigure:
    return FittedFigure(name=name, ns=ns, low_ns=ns, high_ns=ns, samples=300, outliers=0, by_guest_ns=(ns,))


def test_each_figure_stands_beside_that_of_lean() -> None:
    names = {"cpuid": 1234.5, "fault_4K": 2000.0, "fault_2M": 70000.0, "instruction": 0.25, "instruction, table": 0.5}
    found = HostFit(
        name="mine", rules="svm", memory="2M", figures=tuple(figure(name, ns) for name, ns in names.items()),
        not_timed={}, cautions=(), host={"cpu_model": "[red]CPU", "kernel": "6.1"}, qemu="10.0.2", wall_s=1.0, model="",
    )  # fmt: skip
    console = Console(width=120)
    with console.capture() as shown:
        for line in fit_view(found).lines:
            console.print(line)
    rows = {line.split("  ")[0].rstrip(" 0123456789.,"): line.split() for line in shown.get().splitlines()}
    assert rows["cpuid"][-1] == "700" and rows["cpuid"][1] == "1,234"
    assert rows["fault_4K"][-1] == "1,460" and rows["fault_2M"][-1] == "60,000" and rows["instruction"][-1] == "0.33"
    # A part of a figure has none in a model.
    assert rows["instruction, table"][-1] == "300"
    assert "[red]CPU, Linux 6.1" in shown.get()
