"""`--from-mark`: a name that no mark can have is refused, and so are boots that run elsewhere than here."""

import pytest

from bootlab.cli.options.from_mark import expect_from_mark
from bootlab.cli.options.places import choose_place
from bootlab.errors import InputError


def test_without_it_any_place_will_do() -> None:
    expect_from_mark(None, choose_place("local:2", None))
    expect_from_mark("late", choose_place(None, None))


def test_machines_are_kept_on_this_host() -> None:
    with pytest.raises(InputError, match="machines are kept on this host"):
        expect_from_mark("late", choose_place("local:2", None))


def test_a_name_that_no_mark_can_have_is_refused() -> None:
    with pytest.raises(InputError, match="--from-mark 'two words'"):
        expect_from_mark("two words", choose_place(None, None))
