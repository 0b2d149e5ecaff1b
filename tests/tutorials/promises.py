"""What a tutorial promises beside its commands: the lines that it shows, and the files and savings that it ends with.

A shown line is looked for in what was printed; its figures may differ by a tenth, since kernels and QEMUs do. What is
promised to repeat, such as the figure of a trial, is held to the nanosecond.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

MS = 1_000_000
_NO_TESTS = "cmdline_cryptomgr_notests"
_TOLERANCE = 0.1
_SMALLEST = 1.0
"""Figures that are nearer to each other than this are alike: so many percent, or milliseconds, are soon another's."""
_FIGURE = re.compile(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)(?![\w])")
_BARS = re.compile(r"[\u2580-\u259f]+")


def expect_printed(shown: str, printed: str, where: str) -> None:
    """Raise AssertionError where a line that a tutorial shows is not among those that were printed, in their order."""
    lines = iter(printed.splitlines())
    for promised in filter(str.strip, shown.splitlines()):
        assert any(_alike(promised, line) for line in lines), f"{where}: nothing printed this:\n{promised}\n\n{printed}"


def _alike(promised: str, printed: str) -> bool:
    (words, figures), (other_words, other_figures) = _read(promised), _read(printed)
    return words == other_words and all(
        abs(one - other) <= max(_SMALLEST, _TOLERANCE * one) for one, other in zip(figures, other_figures, strict=True)
    )


def _read(line: str) -> tuple[str, list[float]]:
    """Return a line without its figures, bars and the width of its columns; and the figures."""
    plain = " ".join(_BARS.sub(" ", line).split())
    return _FIGURE.sub("N", plain), [float(one.replace(",", "")) for one in _FIGURE.findall(plain)]


def check_promises(name: str, folder: Path, said: str) -> None:
    """Hold what the tutorial of this name promises against the folder where it ended, and against all it printed.

    Raises AssertionError for the first promise that is not kept, and KeyError for a tutorial whose promises nobody
    wrote down here.
    """
    PROMISES[name](folder, said)


def _expect(what: str, kept: bool, seen: object) -> None:
    assert kept, f"not so: {what}\n{seen}"


def _expect_said(said: str, *patterns: str) -> None:
    for pattern in patterns:
        _expect(f"the tutorial's commands print {pattern!r}", re.search(pattern, said) is not None, said[-6000:])


def results(folder: Path, kind: str) -> list[dict[str, Any]]:
    """Return the results of the runs of one kind, in the order in which they were started."""
    runs = sorted((folder / "bootlab-runs").glob("*/run.json"))
    asked = [path.parent for path in runs if json.loads(path.read_text())["kind"] == kind]
    return [json.loads((path / "result.json").read_text()) for path in asked]


def _comparison(folder: Path) -> dict[str, Any]:
    (result,) = results(folder, "compare")
    _expect("the comparison's verdict is `shorter`", result["verdict"] == "shorter", result)
    return result


def _trial(folder: Path, *techniques: str) -> dict[str, Any]:
    """Return the trial of exactly these techniques, each of which was worth it."""
    trials = results(folder, "try")
    (result,) = [one for one in trials if {row["technique"] for row in one["alone"]} == {*techniques}]
    for row in result["alone"]:
        _expect(f"{row['technique']} alone is `shorter`", row["verdict"] == "shorter", row)
    return result


def _last_boot_ns(folder: Path) -> int:
    *_, last = sorted((folder / "bootlab-runs").glob("*-boot"))
    (record,) = last.glob("boots/*/record.json")
    ready_ns: int = json.loads(record.read_text())["marks"]["ready"]
    return ready_ns


def expect_applied(folder: Path, trial: dict[str, Any], stack: str) -> str:
    """Return CHANGES.md, which has the trial's figures; the boot of what was written must give the stack's again."""
    account = (folder / "changes" / "CHANGES.md").read_text()
    finished = trial["final"][stack]
    booted_ns = _last_boot_ns(folder)
    _expect("what was written boots to the trial's figure", booted_ns == finished["ready_ns"], (booted_ns, finished))
    for technique in finished["techniques"]:
        steps = [step for step in trial["stack"] if step["technique"] == technique and step["ready_ns"] is not None]
        rows = [rf"\| `{technique}` \| {_ms(step['saved_ns'])} \| {_ms(step['ready_ns'])} \|" for step in steps]
        _expect(f"CHANGES.md has the step {rows}", any(re.search(row, account) for row in rows), account)
    return account


def _ms(ns: int) -> str:
    """Return how CHANGES.md writes a time, as a pattern: milliseconds with two decimals."""
    return re.escape(f"{ns / MS:.2f}")


def expect_options(folder: Path, account: str) -> None:
    """Each of U-Boot's options that board.toml sets is in the fragment that was written, or by hand in CHANGES.md."""
    fragment = (folder / "changes" / "u-boot" / "bootlab.config").read_text()
    section = re.search(r"(?ms)^\[bootloader.options\]$(.*?)^$", (folder / "board.toml").read_text())
    options = re.findall(r"(?m)^(\w+) *=", section[1] if section else "")
    _expect("board.toml has options of U-Boot's", len(options) > 10, options)
    for option in options:
        there = re.search(rf"(?m)^(CONFIG_{option}=|# CONFIG_{option} is not set$)", fragment) is not None
        by_hand = f"`bootloader.options.{option}`" in account
        _expect(f"{option} is in the fragment, or by hand", there or by_hand, fragment)


def _microvm(folder: Path, said: str) -> None:
    _expect_said(said, "self-tests of the crypto API", _NO_TESTS, "the gate has stopped it, exit code 1")
    compared = _comparison(folder)
    _expect("a boot takes less than half", compared["after_ns"] * 2 < compared["before_ns"], compared)
    (trial,) = results(folder, "try")
    stack = trial["final"]["recommended"]
    _expect("the stack has what the tests of the crypto API are skipped by", _NO_TESTS in stack["techniques"], stack)
    _expect("the stack is no longer than that alone", stack["ready_ns"] <= compared["after_ns"] + MS, (stack, compared))
    expect_applied(folder, trial, "recommended")
    words = (folder / "changes" / "kernel" / "cmdline").read_text().split()
    _expect("changes/kernel/cmdline has the word", "cryptomgr.notests" in words, words)


def _embedded(folder: Path, said: str) -> None:
    compared = _comparison(folder)
    _expect("seconds are saved", compared["saved_ns"] >= 2000 * MS, compared)
    trial = _trial(folder, "bootloader_no_delay", "bootloader_no_scan")
    account = expect_applied(folder, trial, "with risks")
    # The tutorial compares with board.toml, which has by hand what both techniques set.
    saved_ns = trial["baseline"]["ready_ns"] - trial["final"]["with risks"]["ready_ns"]
    near = abs(saved_ns - compared["saved_ns"]) <= _TOLERANCE * saved_ns
    _expect("the trial saves what the comparison did", near, (saved_ns, compared["saved_ns"]))
    expect_options(folder, account)
    _trial(folder, "bootloader_falcon")


def _images(folder: Path, said: str) -> None:
    _expect_said(
        said,
        r"The highlighted entry will be executed automatically in 1s\.",
        "the menu of GRUB waits 2 s for a key, in the phase `loader`; bootloader_menu_none leaves it out",
        "debian-12.img: OK",
    )
    trial = _trial(folder, "bootloader_menu_none")
    (row,) = trial["alone"]
    _expect("two seconds are saved", abs(row["saved_ns"] - 2000 * MS) < 200 * MS, row)
    expect_applied(folder, trial, "recommended")
    menu = (folder / "changes" / "root" / "etc" / "default" / "grub.d" / "90-bootlab.cfg").read_text()
    _expect("the menu no longer waits", "GRUB_TIMEOUT=0\n" in menu, menu)


PROMISES: dict[str, Callable[[Path, str], None]] = {"embedded": _embedded, "images": _images, "microvm": _microvm}
"""Tutorial -> what holds its promises against the folder where it ended, and what it printed."""
