"""Figures: units, rounding, and the sentence that says which clock they are on."""

import re

import pytest

from bootlab.measure.record import Outcome
from bootlab.report.parts.figures import (
    clock_sentence,
    flat,
    median_ready_ns,
    model_lines,
    ms,
    percent,
    ready_times,
    spread_words,
    visible,
)
from bootlab.system import BoardModel
from tests.report.steps import series


@pytest.mark.parametrize(
    ("ns", "sign", "shown"),
    [
        (None, False, ""),
        (0, True, "0.00"),
        (1_234_567, False, "1.23"),
        (1_234_567, True, "+1.23"),
        (-4_999, True, "0.00"),
    ],
)
def test_ms_rounds_to_two_decimals_and_never_says_minus_zero(ns: int | None, sign: bool, shown: str) -> None:
    assert ms(ns, sign=sign) == shown


def test_percent_never_says_minus_zero_and_is_empty_without_a_whole() -> None:
    assert percent(-1, 1_000_000) == "0.0"
    assert percent(-1, 1_000_000, sign=True) == "0.0"
    assert percent(250, 1000, sign=True) == "+25.0"
    assert percent(1, 0) == percent(None, 1) == percent(1, None) == ""


def test_a_small_spread_is_not_rounded_to_nothing() -> None:
    assert spread_words(2_044, 1_534_224_826) == "2,044 ns (0.00013 %)"
    assert spread_words(33_000_000, 1_534_000_000) == "33.00 ms (2.2 %)"
    assert spread_words(None, 1) == "unknown"


def test_virtual_clock_names_rate_cpu_seeds_and_what_a_ratio_is() -> None:
    assert clock_sentence("virtual", 1, "max", [1, 2, 3]) == (
        "virtual clock: 1 ns per instruction + idle, CPU model max, seeds 1 2 3; "
        "a ratio is 'instructions + idle', not speed"
    )


def test_tcg_wall_time_is_never_offered_as_speed() -> None:
    assert "never quote it as speed" in clock_sentence("wall", None, "max", [1], "tcg")
    assert "never quote" not in clock_sentence("wall", None, "host", [1], "kvm")


def test_only_boots_that_were_ready_have_a_median() -> None:
    """Of two middles the mean, rounded down, as everywhere: 3.5 is 3."""
    boot = series("series-before.json")[0]
    slow, fast = (boot.model_copy(update={"marks": {"ready": ready_ns}}) for ready_ns in (5, 2))
    failed = boot.model_copy(update={"outcome": Outcome.HUNG})
    assert ready_times([slow, failed, fast]) == [5, 2]
    assert median_ready_ns([slow, failed, fast]) == 3
    assert median_ready_ns([failed]) is None


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1bc\x1b[?7l\x1b[2Jfirmware", "firmware"),
        ("\x1b]0;title\x07text", "text"),
        ("a\x07b\x9bc", "a\\x07b\\x9bc"),
        ("abc\u202egnp.exe", "abc\\u202egnp.exe"),
        ("tab\tand \N{SNOWMAN} stay", "tab\tand \N{SNOWMAN} stay"),
        ("two\nlines", "two\\x0alines"),
    ],
)
def test_text_from_outside_cannot_steer_a_terminal(raw: str, shown: str) -> None:
    assert visible(raw) == shown


def test_the_three_terms_of_a_usb_camera_add_up_to_the_boot() -> None:
    # The figures of examples/camera-board-usb.toml as docs/cases/camera-board.md has them; all else is a fixture's.
    (record, *_) = series("series-before.json")
    facts = {"board_model.camera_powered_us": "362030", "board_model.camera_there_us": "1562040"}
    changed = {"board_model": BoardModel(storage_mib_s=14.9, uart_baud=115200, camera_ms=1200), "facts": facts}
    record = record.model_copy(
        update={**changed, "marks": {**record.marks, "camera": 1_562_900_000, "ready": 1_648_850_000}}
    )
    model, camera = model_lines([record])
    assert model.startswith(
        "board model be38d75062f5 (storage 14.9 MiB/s, UART 115200 baud, camera 1200 ms from power)"
    )
    assert camera == "camera: power-on to its power 362.03 ms, power to there 1200.01 ms, there to ready 86.81 ms"
    assert sum(float(figure) for figure in re.findall(r"([0-9.]+) ms", camera)) == pytest.approx(1648.85)
    # Without a modelled camera there is one term: from when the application found it.
    at_once = record.model_copy(
        update={"facts": {"board_model.camera_powered_us": "0", "board_model.camera_there_us": "0"}}
    )
    assert model_lines([at_once])[1] == "camera: there to ready 85.95 ms"


def test_nested_host_facts_become_lines() -> None:
    facts = {"cpu": "x", "qemu": {"version": "10.0.2"}, "load": [0.5, 1], "governor": None}
    assert flat(facts) == [("cpu", "x"), ("qemu.version", "10.0.2"), ("load", "0.5, 1"), ("governor", "unknown")]
