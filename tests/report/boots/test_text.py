"""Terminal output: fits 80 columns, no colour when piped, nothing a guest said acts on the terminal.

The records under data/report are fixtures with made-up figures; no figure here was measured.
"""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console, RenderableType

from bootlab.errors import InputError
from bootlab.experiments.chance import Chance
from bootlab.experiments.trial.result import StackName
from bootlab.measure.record import BootRecord, EarlyWakeRecord, Outcome, PowerOnRecord
from bootlab.report.boots import text
from bootlab.report.boots.page import compare_page, series_page, try_page
from bootlab.report.boots.steps_text import steps
from bootlab.report.trial.text import try_result
from bootlab.system import BoardModel, Storage
from tests.report.steps import four_steps, four_systems, with_a_failure
from tests.report.trials import confirmed_trial, loaded_trial, trial

DATA = Path(__file__).parents[2] / "data" / "report"


def series(name: str) -> list[BootRecord]:
    return [BootRecord.model_validate(item) for item in json.loads((DATA / name).read_text())]


def printed(renderable: RenderableType, *, width: int = 80, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    Console(file=stream, width=width).print(renderable)
    stream.flush()
    return raw.getvalue().decode(encoding)


EVERY: list[tuple[str, RenderableType]] = [
    ("boot", text.boot(series("series-before.json")[0])),
    ("panicked", text.boot(series("series-panicked.json")[0])),
    ("series", text.series(series("series-before.json") + series("series-panicked.json"))),
    ("comparison", text.comparison(series("series-before.json"), series("series-after.json"))),
    ("steps", steps(four_steps(), four_systems())),
    ("steps with a failure", steps(*with_a_failure())),
    ("try", try_result(trial())),
    ("try with load", try_result(loaded_trial())),
]


@pytest.mark.parametrize("renderable", [one for _, one in EVERY], ids=[name for name, _ in EVERY])
@pytest.mark.parametrize("width", [80, 120])
def test_fits_the_width_names_its_clock_and_has_no_codes_when_piped(renderable: RenderableType, width: int) -> None:
    out = printed(renderable, width=width)
    assert max(len(line.rstrip()) for line in out.splitlines()) <= width
    assert "\x1b" not in out
    assert "virtual clock: 1 ns per instruction + idle, CPU model max, seed" in " ".join(out.split())


@pytest.mark.parametrize("renderable", [one for _, one in EVERY], ids=[name for name, _ in EVERY])
def test_prints_where_only_ascii_can_be_shown(renderable: RenderableType) -> None:
    printed(renderable, encoding="ascii")


def test_try_lists_every_technique_under_its_verdict_and_keeps_names_whole() -> None:
    out = printed(try_result(trial()))
    for one in trial().alone:
        assert one.technique in out
    assert out.index("\nshorter") < out.index("\nno difference shown") < out.index("\nlonger")
    assert "recommended: 613.28 ms virtual, 2.50x fewer instructions + idle, 3 techniques" in out
    assert "faster" not in out and "slower" not in out, "it is on the virtual clock"


def test_try_says_what_of_each_saving_is_loading_and_cuts_no_name_or_figure() -> None:
    long = "userspace_usb_short_recovery"
    alone = [one.model_copy(update={"technique": f"{long}{number}"}) for number, one in enumerate(loaded_trial().alone)]
    out = printed(try_result(loaded_trial().model_copy(update={"alone": alone})))
    whole = [line.split() for line in out.splitlines()]
    for one in alone:
        if one.saved_ns is not None:
            saved, rest = f"{one.saved_ns / 1e6:.2f}", f"{one.saved_ns / 1e6 - 12.34:.2f}"
            assert any(words[:3] == [one.technique, one.risk, saved] for words in whole)
            assert [one.technique, "12.34", rest, "no", "difference", "shown"] in whole
    assert "without the load" not in printed(try_result(trial()))


def test_try_says_what_was_not_kept_and_what_was_tried_again() -> None:
    out = printed(try_result(trial()))
    rungs = out[out.index("stacks, plan gain") :]
    assert "machine_uncompressed_pvh*" in rungs
    assert "no difference shown" in rungs
    assert "broke it" in rungs
    assert "* tried again here" in rungs


def test_try_says_what_broke_on_a_stack_only_and_which_stack_is_not_steady() -> None:
    out = " ".join(printed(try_result(confirmed_trial())).split())
    name = confirmed_trial().alone[1].technique
    assert f"{name} none broke it with a change that means nothing: hung: not ready after 5 s" in out
    assert "recommended: fails with a change that means nothing: runs/1/boots/stack-null4-s1: panicked" in out
    assert "means nothing" not in printed(try_result(trial()))


def test_try_says_in_short_what_else_a_technique_changed() -> None:
    one = trial().alone[0]
    lost = {"SECURITY": ("y", "n"), "AUDIT": ("y", "n"), "IMA": ("y", "n"), "EVM": ("y", "n"), "KEYS": ("y", "n")}
    for changed, named, said in (
        ({"EXPERT": ("n", "y"), "NR_CPUS": ("8", "4")}, [], "2 other options change: EXPERT n -> y, NR_CPUS 8 -> 4"),
        ({"EXPERT": ("n", "y")}, [], "1 other option changes: EXPERT n -> y"),
        (lost, list(lost), "5 other options change; lost: SECURITY, AUDIT, IMA, EVM and 1 more"),
    ):
        told = one.model_copy(update={"also_changed": changed, "also_lost": named, "risk": "security"})
        result = trial().model_copy(update={"alone": [told, *trial().alone[1:]]})
        out = " ".join(printed(try_result(result)).split())
        assert f"configuration technique risk besides {one.technique} security {said}" in out
        assert said.replace(">", "&gt;") in try_page(result)
    assert "besides" not in printed(try_result(trial()))


def test_try_names_the_storage_model_with_every_time_that_includes_it() -> None:
    loud = " ".join(printed(try_result(loaded_trial())).split())
    assert "times: ready incl. load at 20 MB/s + 500 us a file" in loud
    assert "baseline 2034.16 ms virtual" in loud, "1534.16 ms to ready and 500 ms to load"
    assert "load+ready ms" in loud
    assert "load at 20 MB/s" not in printed(try_result(trial()))


def test_try_shows_sizes_and_times_of_each_system_and_what_the_trial_cost() -> None:
    out = printed(try_result(loaded_trial()))
    sizes = out[out.index("sizes in KiB") : out.index("stacks, plan")]
    assert "baseline 9,766 2,442 500.00 1500.00 1534.16" in " ".join(sizes.split())
    assert "recommended" in sizes
    assert "disk0" not in sizes
    assert (
        "12 kernels built in 340 s; 60 boots of 437 s in 238 s, 2 at a time; 600 s in all, 0.59x the boots' own"
        in " ".join(out.split())
    )
    assert "sizes in KiB" not in printed(try_result(trial())), "an older result, without sizes"


def test_a_ladder_climbed_alone_lists_its_steps_with_their_sizes_and_no_verdicts() -> None:
    loaded = loaded_trial()
    steps = [step.model_copy(update={"stack": StackName.LADDER, "sizes": {"kernel": 2 << 20}}) for step in loaded.stack]
    end = loaded.final["recommended"].model_copy(update={"techniques": [step.technique for step in steps]})
    absent = (
        steps[0]
        .model_copy(
            update={"technique": "cmdline_lpj", "verdict": "does not apply", "detail": "no such CPU", "saved_ns": None}
        )
        .model_copy(update={"ready_ns": None, "phases": [], "members": []})
    )
    steps.append(absent)
    result = loaded.model_copy(update={"alone": [], "ablation": [], "stack": steps, "final": {StackName.LADDER: end}})
    out = printed(try_result(result))
    assert "\nshorter" not in out
    assert "does not apply no such CPU" in " ".join(out.split())
    sizes = out[out.index("sizes in KiB") : out.index("stacks, plan")]
    listed = [line.split()[1] for line in sizes.splitlines() if line.startswith("+ ")]
    assert listed == [step.technique for step in steps if step.ready_ns is not None]


def test_try_shows_what_each_technique_contributes_to_the_stack() -> None:
    out = " ".join(printed(try_result(loaded_trial())).split())
    assert "in stack ms" in out
    first = trial().alone[0]
    assert f"{first.technique} {(first.saved_ns or 0) / 1e6:.2f} 3.00" in out
    assert "the stack cannot be made without it" in out


def test_a_boot_with_a_storage_model_names_it() -> None:
    record = series("series-before.json")[0]
    model = record.model_copy(update={"storage": Storage(mb_s=20), "load_ns": 25_000_000})
    assert "load at 20 MB/s, before power-on: 25.00 ms" in printed(text.boot(model))
    assert "load at" not in printed(text.boot(record))


@pytest.mark.parametrize(
    ("ignition_ns", "said"),
    [
        (None, []),
        (
            3_000_000_000,
            ["ignition 3000.00 ms after the wake: ready 0.00 ms after it", "if nobody comes that was for nothing: "],
        ),
        (1_000_000, ["ignition 1.00 ms after the wake: ready 7.00 ms after it"]),
    ],
)
def test_an_early_wake_says_what_it_was_good_for(ignition_ns: int | None, said: list[str]) -> None:
    record = series("series-before.json")[0]
    wake = EarlyWakeRecord(
        by="rtc",
        slept_ns=4_314_000_000,
        ignition_ns=ignition_ns,
        ignition_to_ready_ns=None if ignition_ns is None else 7_000_000 * (ignition_ns < 10**9),
        idle_awake_ns=None if ignition_ns is None else ignition_ns,
        fell_asleep_ns=20_000_000,
    )
    woken = record.model_copy(update={"power_on": PowerOnRecord(kind="suspended", wake=wake)})
    lines = text.early_wake_lines(woken)
    assert lines[0] == "woken by the alarm of its clock 4314.00 ms after it began to fall asleep"
    assert all(any(line.startswith(words) for line in lines) for words in said)
    assert ("early" in " ".join(lines)) == (ignition_ns == 3_000_000_000)
    assert ignition_ns is None or lines[-1].endswith(" and falling asleep again, which took 20.00 ms before")
    assert "woken by" in printed(text.boot(woken)) and text.early_wake_lines(record) == []
    of_day = wake.model_copy(update={"at": "power_on", "at_to_wake_ns": 5_000_000_000})
    woken = record.model_copy(update={"power_on": PowerOnRecord(kind="suspended", wake=of_day)})
    first = text.early_wake_lines(woken)[0]
    assert (
        first == "woken by the alarm of its clock 5000.00 ms after power_on, 4314.00 ms after it began to fall asleep"
    )


def test_what_was_written_over_a_root_is_told_of_beside_the_ram() -> None:
    found = PowerOnRecord(kind="self-refresh", source="kept-ram", changes_taken=7)
    assert text.power_on_words(found).endswith("root from kept RAM; changes of generation 7 over it")
    other = found.model_copy(update={"changes_taken": None, "changes_refused": "they are damaged"})
    assert text.power_on_words(other).endswith("root from kept RAM; changes refused: they are damaged")


def test_a_boot_that_was_not_ready_says_why() -> None:
    out = printed(text.boot(series("series-panicked.json")[0]))
    assert "panicked" in out
    assert "IO-APIC" in out
    assert "ready" not in out.splitlines()[0]


def test_a_series_says_once_why_its_boots_were_not_ready() -> None:
    first = series("series-panicked.json")[0]
    shown = printed(text.series([first, first]))
    assert "0 of 2 boots ready" in shown and shown.count("IO-APIC") == 1


def test_what_boots_of_a_series_remark_is_told_once() -> None:
    first, *others = series("series-before.json")
    told = [one.model_copy(update={"remarks": ["the screen is not looked at"]}) for one in others]
    some = " ".join(printed(text.series([first, *told])).split())
    assert some.count(f"caution: the screen is not looked at (in {len(others)} of {len(others) + 1} boots).") == 1
    side = " ".join(printed(text.comparison([first, *told], [first])).split())
    assert f"{first.system}: the screen is not looked at (in {len(others)} of" in side


def test_a_guest_cannot_send_escapes_or_markup() -> None:
    record = series("series-panicked.json")[0].model_copy(update={"detail": "\x1b[2J\x07[red]boom[/red]"})
    out = printed(text.boot(record))
    assert "\\x07[red]boom[/red]" in out
    assert "\x1b" not in out


def test_boots_on_different_clocks_are_not_compared() -> None:
    before = series("series-before.json")
    after = [record.model_copy(update={"clock": "wall", "accelerator": "kvm"}) for record in before]
    with pytest.raises(InputError, match="cannot be compared"):
        text.comparison(before, after)


def test_another_cpu_model_or_other_seeds_are_a_caution() -> None:
    before = series("series-before.json")
    after = [record.model_copy(update={"cpu": "qemu64", "seed": record.seed + 10}) for record in before]
    out = " ".join(printed(text.comparison(before, after)).split())
    assert "caution: The CPU model differs (max, qemu64)" in out
    assert "caution: The sides have different seeds" in out


def test_a_try_names_its_board_model_beside_its_hashes() -> None:
    model = BoardModel(storage_mib_s=14.9, uart_baud=115200)
    out = " ".join(printed(try_result(trial().model_copy(update={"board_model": model}))).split())
    assert f"board model: {model.identity} (storage 14.9 MiB/s, UART 115200 baud) run: " in out
    assert "board model" not in printed(try_result(trial())), "an older result, without a model"


def test_another_board_model_is_a_caution_and_each_is_named() -> None:
    before = series("series-before.json")
    slow, quick = BoardModel(storage_mib_s=14.9), BoardModel(storage_mib_s=57)
    sides = [[record.model_copy(update={"board_model": model}) for record in before] for model in (slow, quick)]
    out = " ".join(printed(text.comparison(*sides)).split())
    assert "caution: The board models differ" in out
    for model, rate in ((slow, "14.9"), (quick, "57")):
        assert out.count(f"{model.identity} (storage {rate} MiB/s)") == 2
    assert "caution" not in printed(text.comparison(sides[0], sides[0]))
    never = [record.model_copy(update={"outcome": Outcome.HUNG}) for record in sides[0]]
    assert f"board model {slow.identity}" in printed(text.boot(never[0]))


def test_a_side_that_was_never_ready_has_no_change() -> None:
    before = series("series-before.json")
    after = [record.model_copy(update={"outcome": Outcome.HUNG}) for record in before]
    last = [
        line for line in printed(text.comparison(before, after)).splitlines() if line.startswith("power-on to ready")
    ]
    assert "not ready" in last[0]


def test_steps_show_each_saving_and_its_verdict_and_what_they_come_to() -> None:
    out = printed(steps(four_steps(), four_systems()))
    ladder = out[: out.index("2 against 1")].splitlines()[2:]
    assert ladder[0].split() == ["1", "fixture-debian-cloud", "1534.22"]
    assert ladder[3].split() == ["4", "longer", "743.02", "-90.00", "0.00", "51.6", "longer"]
    loud = " ".join(out.split())
    assert "3 against 2: no difference shown" in loud
    assert "in all: 1534.22 -> 743.02 ms virtual, 2.06x fewer instructions + idle; shorter: +791.200 ms saved" in loud
    phases = out[out.index("phases, ms virtual") :]
    assert phases.splitlines()[1].split() == ["phase", "1", "2", "3", "4"]


def test_steps_say_which_system_was_never_ready() -> None:
    out = printed(steps(*with_a_failure()))
    assert "2 fixture-no-self-tests not ready" in " ".join(out.split())
    assert "hung: nothing for 5 s" in " ".join(out.split())


CHANCE = Chance(
    life=1,
    after="kernel",
    until="Generating rsa keys",
    took_ns={"1": 40_000_000, "2": 340_000_000},
    kinds=["host keys"],
)


@pytest.mark.parametrize(
    "shown",
    [
        lambda: text.series(series("series-before.json"), [CHANCE]),
        lambda: try_result(trial().model_copy(update={"chances": [CHANCE]})),
    ],
)
def test_what_is_chance_by_seed_is_named_beside_the_median(shown: Callable[[], RenderableType]) -> None:
    said = " ".join(printed(shown()).split())
    assert 'caution: chance (host keys): 40.00 to 340.00 ms by seed, up to the line "Generating rsa keys"' in said
    assert "seed 1: 40.00, seed 2: 340.00" in said
    assert "caution: chance" not in printed(text.series(series("series-before.json")))
    pages = (
        series_page(series("series-before.json"), (), [CHANCE]),
        try_page(trial().model_copy(update={"chances": [CHANCE]})),
    )
    assert all("chance (host keys): 40.00 to 340.00 ms by seed" in page for page in pages)


def test_a_comparison_says_which_side_chance_moves() -> None:
    before, after = series("series-before.json"), series("series-after.json")
    said = " ".join(printed(text.comparison(before, after, chances={"before": [CHANCE]})).split())
    assert "caution: before: chance (host keys): 40.00 to 340.00 ms by seed" in said
    page = compare_page(before, after, chances={"before": [CHANCE]})
    assert "before: chance (host keys): 40.00 to 340.00 ms by seed" in page
