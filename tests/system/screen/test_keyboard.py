"""Text as keys of a US keyboard."""

import string

import pytest

from bootlab.system.screen.keyboard import chord, chords_of_text


def test_each_character_is_its_keys() -> None:
    assert chords_of_text("aB 1!\t\n") == (
        ("a",), ("shift", "b"), ("spc",), ("1",), ("shift", "1"), ("tab",), ("ret",),
    )  # fmt: skip
    assert chords_of_text("_/|?") == (
        ("shift", "minus"), ("slash",), ("shift", "backslash"), ("shift", "slash"),
    )  # fmt: skip


def test_every_printable_character_has_keys_of_its_own() -> None:
    typed = string.digits + string.ascii_letters + string.punctuation + " \t\n"
    assert len(set(chords_of_text(typed))) == len(typed)


@pytest.mark.parametrize("letter", ["\u00e4", "\x1b", "\u20ac", "\u0661"])
def test_what_a_us_keyboard_has_not_got_is_refused(letter: str) -> None:
    with pytest.raises(ValueError, match="no key of a US keyboard"):
        chords_of_text(letter)


def test_chords_are_words() -> None:
    assert chord("ctrl-alt-f2") == ("ctrl", "alt", "f2")
    # A name as long, and as many keys at once, as the plugin would not take.
    long = ("a" * 33, "-".join("abcdefghi"))
    for wrong in ("", "-", "ctrl-", "Ret", "a b", "a\nkey x 0 b down", *long):
        with pytest.raises(ValueError, match="is not keys by QEMU's names"):
            chord(wrong)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("enter", "no key has QEMU's name 'enter': it calls one 'ret'"),
        ("ctrl-alt-del", "no key has QEMU's name 'del': it calls one 'delete'"),
        ("backspce", "'backspce': it calls one 'backspace'"),
        ("unmapped", "no key has QEMU's name 'unmapped'"),
        ("zzz", "no key has QEMU's name 'zzz'$"),
        ("ctrl-c-ctrl", "'ctrl-c-ctrl' has a key twice"),
    ],
)
def test_a_key_that_qemu_has_not_got_is_refused_before_the_boot(words: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        chord(words)


def test_what_text_types_is_known() -> None:
    for keys in chords_of_text(string.digits + string.ascii_letters + string.punctuation + " \t\n"):
        assert chord("-".join(keys)) == keys
