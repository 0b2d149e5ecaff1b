"""A plan in somebody's order stands beside what they published: no figure of theirs is made up, and none is lost."""

import pytest

from bootlab.experiments.trial.plan import PLANS
from bootlab.experiments.trial.result import TryResult
from bootlab.report.boots.page import try_page
from bootlab.report.trial.markdown import try_markdown
from bootlab.report.trial.published import account_of, published_figures
from bootlab.report.trial.text import try_result
from tests.report.boots.test_text import printed
from tests.report.trials import trial


def climbed(plan: str, technique: str) -> TryResult:
    """A trial whose one step has another name, by a plan."""
    result = trial()
    step = result.stack[0].model_copy(update={"technique": technique})
    end = result.final[step.stack].model_copy(update={"techniques": [technique]})
    return result.model_copy(update={"plan": plan, "stack": [step], "final": {step.stack: end}})


@pytest.mark.parametrize("name", [name for name, plan in PLANS.items() if plan.account])
def test_an_account_is_there_and_has_figures_of_its_plan_s_steps(name: str) -> None:
    account = account_of(name)
    assert account is not None
    figures = published_figures(name)
    assert set(figures) & set(PLANS[name].techniques or ())
    told = "; ".join(figures.values())
    lost = [row.row for row in account.rows if row.techniques and f"{row.row}: {row.figure}" not in told]
    assert all(row.figure.split(":")[0] == "none" for row in account.rows if row.row in lost), lost


def test_a_plan_of_nobody_s_or_of_another_time_has_none() -> None:
    assert not published_figures("gain")
    assert not published_figures("no-such-plan")


def test_a_row_of_several_techniques_is_said_of_each_and_one_without_a_figure_of_none() -> None:
    figures = published_figures("board-2019")
    assert figures["kernel_ftrace_off"] == figures["cmdline_tracefs"] == "tracers: -550 ms, -217 KB"
    figures = published_figures("mandriva-2009")
    assert figures["userspace_units_late"] == "harddrake out of the parallel init: -3 s"
    assert figures["cmdline_modules_load"] == "a modprobe daemon; modprobe --all: none, sometimes longer"
    assert "cmdline_quiet" not in figures, "a comment without a figure"


def test_it_stands_in_every_form_beside_its_step() -> None:
    result = climbed("mandriva-2009", "rootfs_readahead")
    line = next(line for line in try_markdown(result).splitlines() if line.startswith("| `rootfs_readahead`"))
    assert line.endswith("| readahead, its I/O idle: -2 s, both timings |")
    text = printed(try_result(result), width=120)
    assert "published of these steps: F. Crozat" in text
    assert "rootfs_readahead readahead, its I/O idle: -2 s, both timings" in text
    assert "published: readahead, its I/O idle: -2 s, both timings" in try_page(result)


def test_a_trial_in_nobody_s_order_has_no_column() -> None:
    assert "published" not in try_markdown(trial())
    assert "published" not in printed(try_result(trial()), width=120)
