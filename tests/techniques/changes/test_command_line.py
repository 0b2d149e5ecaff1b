"""Words of the command line: put there once, never twice, and only where they mean something."""

import pytest

from bootlab.errors import InputError
from bootlab.system import System
from bootlab.techniques.changes.command_line import (
    blacklisted,
    has_words,
    kernel_words,
    measured_words,
    word_value,
    x86_only,
)
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.technique import Layer
from tests.techniques.asking import NOTHING


def lpj(system: System, measured: Measured) -> str | None:
    found = measured.facts.get("lpj")
    return f"lpj={found}" if found else None


def test_words_stand_behind_those_that_are_there(system: System) -> None:
    change = kernel_words("quiet loglevel=0")
    assert (change.layer, change.knob) == (Layer.CMDLINE, "quiet loglevel=0")
    assert change.applies(system, NOTHING) is None
    assert change.apply(system, NOTHING).kernel.cmdline == "console=ttyS0 quiet loglevel=0"


def test_words_that_are_all_there_are_not_put_there_again(system: System) -> None:
    change = kernel_words("quiet loglevel=0")
    half = system.with_cmdline("quiet")
    assert change.applies(half, NOTHING) is None
    whole = system.with_cmdline("loglevel=0", "quiet")
    assert change.applies(whole, NOTHING) == "the command line has quiet loglevel=0 already"
    assert has_words(whole, "quiet") and not has_words(whole, "qui")


def test_what_else_speaks_against_it_is_asked_last(system: System) -> None:
    change = kernel_words("quiet", lambda system, measured: "no reason")
    assert change.applies(system, NOTHING) == "no reason"
    assert change.applies(system.with_cmdline("quiet"), NOTHING) == "the command line has quiet already"


def test_a_measured_value_is_what_the_baseline_found(system: System) -> None:
    change = measured_words("lpj=N", lpj, "the boot said no lpj")
    found = Measured({"lpj": "3999972"}, {}, {}, "")
    assert change.applies(system, found) is None
    changed = change.apply(system, found)
    assert changed.kernel.cmdline == "console=ttyS0 lpj=3999972"
    assert change.applies(changed, found) == "the command line has lpj=3999972 already"
    # Another value than the one that was measured is not the same word.
    assert change.applies(changed, Measured({"lpj": "7"}, {}, {}, "")) is None


def test_without_a_measured_value_it_says_what_is_missing(system: System) -> None:
    change = measured_words("lpj=N", lpj, "the boot said no lpj")
    assert change.applies(system, NOTHING) == "the boot said no lpj"
    with pytest.raises(InputError, match="the boot said no lpj"):
        change.apply(system, NOTHING)


def test_the_last_word_of_a_key_counts(system: System) -> None:
    assert word_value(system, "console") == "ttyS0"
    assert word_value(system.with_cmdline("console=tty0", "noconsole=1"), "console") == "tty0"
    assert word_value(system.with_cmdline("root=UUID=1=2"), "root") == "UUID=1=2"
    assert word_value(system, "root") is None


def test_initcalls_that_are_skipped_already_are_read_from_every_list(system: System) -> None:
    words = ("initcall_blacklist=a,b", "initcall_blacklist=,c,", "other_initcall_blacklist=d")
    assert blacklisted(system.with_cmdline(*words)) == {"a", "b", "c"}
    assert blacklisted(system) == set()


def test_an_option_of_x86_does_nothing_elsewhere(system: System, riscv_board: System) -> None:
    assert x86_only(system, NOTHING) is None
    assert x86_only(riscv_board, NOTHING) == "the option exists on x86-64 only; this system is riscv64"
