"""Our own figures: merged by system and kernel, and worded with what they are worth."""

from pathlib import Path

from bootlab.sources import MEASURED
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Effect
from bootlab.techniques.model.verdict import Verdict
from bootlab.techniques.page.measured_figures import (
    MeasuredFigure,
    MeasuredFigures,
    figure_words,
    merge_measured,
    read_measured,
    sizes_words,
)

FIGURE = MeasuredFigure(
    technique="kernel_smp_off",
    system="microvm",
    kernel="6.12.117",
    clock="virtual",
    baseline_ns=10_000_000,
    saved_ns=-2_500_000,
    spread_ns=1000,
    verdict="longer",
    kernel_bytes_saved=None,
    command="bootlab try microvm.toml kernel_smp_off",
    wrong=0.01,
)


def test_says_longer_with_a_plus_and_what_is_within_the_spread() -> None:
    assert (
        figure_words(FIGURE) == "longer: +2.5 ms of 10 ms, which moves by 0.001 ms, all of it execution and waiting "
        "(microvm, 6.12.117, virtual clock)"
    )
    none = FIGURE.model_copy(update={"saved_ns": 500, "verdict": Verdict.NO_DIFFERENCE_SHOWN})
    assert figure_words(none).startswith("no difference shown (-0.0005 ms, within +-0.001 ms)")
    far = none.model_copy(update={"saved_ns": -1_500_000_000})
    assert "(+1500 ms, not with every seed beyond +-0.001 ms)" in figure_words(far)
    broke = FIGURE.model_copy(update={"saved_ns": None, "verdict": Verdict.BROKE_IT})
    assert figure_words(broke).startswith("broke it (microvm")
    tiny = FIGURE.model_copy(update={"load_saved_ns": 64, "execution": Verdict.LONGER, "model": "x"})
    assert "of it -64 ns load by x, " in figure_words(tiny)
    small = FIGURE.model_copy(update={"kernel_bytes_saved": -4000})
    assert "kernel +4 KB" in figure_words(small)


def test_a_figure_of_0_1_is_read_in_the_words_of_its_clock() -> None:
    old = {**FIGURE.model_dump(mode="json"), "verdict": "slower"}
    assert MeasuredFigure.model_validate(old) == FIGURE
    assert figure_words(MeasuredFigure.model_validate({**old, "verdict": "faster", "saved_ns": 12_300_000})).startswith(
        "shorter: -12.3 ms of 10 ms"
    )
    on_wall = MeasuredFigure.model_validate({**old, "clock": "wall"})
    assert on_wall.verdict is Verdict.SLOWER and figure_words(on_wall).startswith("slower: +2.5 ms of 10 ms")


def test_an_older_figure_says_that_nothing_confirmed_it() -> None:
    older = FIGURE.model_copy(update={"wrong": None})
    assert "waiting, not confirmed by fresh boots (microvm, " in figure_words(older)
    none = older.model_copy(update={"saved_ns": 500, "verdict": Verdict.NO_DIFFERENCE_SHOWN})
    assert "confirmed" not in figure_words(none)


def test_a_figure_whose_load_no_boot_tells_names_the_model_and_claims_no_split() -> None:
    untold = FIGURE.model_copy(update={"model": "board model x (card 14.9 MiB/s)"})
    assert "0.001 ms, load by board model x (card 14.9 MiB/s) not told apart (" in figure_words(untold)


def test_a_figure_without_proof_says_so() -> None:
    unshown = FIGURE.model_copy(update={"proof": Effect.NOT_SHOWN})
    assert ", no boot shows that it took effect (" in figure_words(unshown)
    none = FIGURE.model_copy(update={"proof": Effect.NONE})
    assert ", its boots show that it took no effect (" in figure_words(none)
    assert "effect" not in figure_words(FIGURE.model_copy(update={"proof": Effect.PROVEN}))


def test_the_page_says_what_most_figures_rest_on_and_which_do_not() -> None:
    sized = FIGURE.model_copy(update={"seeds": [1, 2, 3], "nulls": 5, "wrong": 0.001})
    other = sized.model_copy(update={"nulls": 3, "system": "restored"})
    said = sizes_words([sized, sized, other])
    assert said.startswith("2 figures are of seeds 1 2 3 on both sides, of 5 null changes")
    assert "at most 0.1 %" in said and said.endswith(": `kernel_smp_off` on restored.")
    assert "Otherwise" not in sizes_words([sized])
    assert sizes_words([FIGURE.model_copy(update={"wrong": None})]) == ""


def test_a_figure_says_which_disks_are_modelled() -> None:
    on_hdd = FIGURE.model_copy(update={"disks": "rootfs on hdd"})
    assert figure_words(on_hdd).endswith("virtual clock, rootfs on hdd)")


def test_a_figure_says_that_the_kernels_ticks_were_moved() -> None:
    moved = FIGURE.model_copy(update={"ticks_moved": True})
    assert figure_words(moved).endswith("virtual clock, ticks moved)")
    assert MeasuredFigure.model_validate(moved.model_dump(mode="json")) == moved
    assert "ticks_moved" not in FIGURE.model_dump(mode="json")


def test_every_figure_in_docs_is_of_a_technique_that_there_is() -> None:
    known = {one.name for one in load_catalogue()}
    figures = read_measured(Path(__file__).parents[3] / "docs" / "measured.json").results
    assert {one.technique for one in figures} - known == set()


def test_a_new_figure_replaces_the_old_of_the_same_system() -> None:
    old = MeasuredFigures(results=[FIGURE, FIGURE.model_copy(update={"system": "board"})])
    merged = merge_measured(old, [FIGURE.model_copy(update={"saved_ns": 1})])
    assert [(one.system, one.saved_ns) for one in merged.results] == [("board", -2_500_000), ("microvm", 1)]


def test_the_file_in_docs_is_valid_and_no_file_is_empty(tmp_path: Path) -> None:
    read_measured(Path(__file__).parents[3] / "docs" / "measured.json")
    assert read_measured(tmp_path / "none.json").results == []


def test_each_row_of_ours_says_how_it_was_measured() -> None:
    """Seeds, what proves the knob, how often such a verdict is wrong, and of what; of a model what loading is."""
    rows = read_measured(MEASURED).results
    assert [one for one in rows if not (one.seeds and one.proof and one.wrong and one.hashes)] == []
    assert [one for one in rows if (one.load_saved_ns is None) != (one.model == "" or one.execution is None)] == []
    assert len(rows) == len({(one.system, one.technique, one.clock) for one in rows}), "a row twice"
