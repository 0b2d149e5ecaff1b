"""What a bootloader reads, changed: nothing but the words and the wait that were asked for."""

import pytest

from bootlab.build.image.boot_entries import parse_entry, parse_grub_menu
from bootlab.build.image.loader_text import ENTRY, GRUB, LOADER_CONF, changed
from bootlab.build.image.systemd_boot import parse_loader_conf
from bootlab.errors import InputError
from tests.build.image.test_boot_entries import DEBIAN


def test_grubs_menu() -> None:
    text = changed(GRUB, DEBIAN, words="quiet splash", menu_s=0)
    menu, before = parse_grub_menu(text), parse_grub_menu(DEBIAN)
    assert menu.wait_s == 0 and "timeout=5" not in text and "timeout=30" not in text
    assert [entry.words for entry in menu.entries] == [f"{entry.words} quiet splash" for entry in before.entries]
    assert [entry.initrds for entry in menu.entries] == [entry.initrds for entry in before.entries]
    other = [line for line in text.splitlines() if "timeout=" not in line and "linux" not in line]
    assert other == [line for line in DEBIAN.splitlines() if "timeout=" not in line and "linux" not in line]
    assert parse_grub_menu(changed(GRUB, "menuentry a {\nlinux /a\n}\n", words="", menu_s=3)).wait_s == 3


def test_an_entry() -> None:
    text = "title A\nlinux /a\noptions ro  \noptions quiet\n"
    assert parse_entry(changed(ENTRY, text, words="x y", menu_s=0), "a").words == "ro quiet x y"
    assert parse_entry(changed(ENTRY, "linux /a\n", words="x", menu_s=None), "a").words == "x"


@pytest.mark.parametrize("kernel", ["linux /a ro -- single", "\tlinuxefi   /a  ro  --  single  ", "linux /a -- single"])
def test_words_of_init_stay_behind_the_kernels(kernel: str) -> None:
    text = changed(GRUB, f"menuentry a {{\n{kernel}\n}}\n", words="quiet", menu_s=None)
    (entry,) = parse_grub_menu(text).entries
    assert entry.words.split()[-3:] == ["quiet", "--", "single"]
    entries = "linux /a\noptions ro\noptions x -- single\noptions more\n"
    assert parse_entry(changed(ENTRY, entries, words="y", menu_s=None), "a").words == "ro x y -- single more"


def test_loader_conf() -> None:
    text = changed(LOADER_CONF, "default a\ntimeout 5\neditor no\n", words="x", menu_s=0)
    assert parse_loader_conf(text) == (0, "a") and "editor no" in text and "timeout 5" not in text


@pytest.mark.parametrize("kind", [GRUB, ENTRY, LOADER_CONF])
def test_nothing_is_changed_that_nobody_asked_for(kind: str) -> None:
    assert changed(kind, DEBIAN, words="", menu_s=None) == DEBIAN


@pytest.mark.parametrize("words", ["a\nlinux /b", "a {b}", "a=$b", "a; reboot", "a '", 'a="b', "#a", "a\\b"])
def test_words_that_would_be_more_than_words_to_grub_are_refused(words: str) -> None:
    with pytest.raises(InputError, match="is the bootloader's own in a line of its menu"):
        changed(GRUB, DEBIAN, words=words, menu_s=None)


def test_words_that_are_no_more_than_words() -> None:
    words = 'dyndbg="file a +p" a=b#c console=ttyS0,115200n8 a.b=-1'
    assert words in changed(GRUB, DEBIAN, words=words, menu_s=None)
    assert "a={b}" in changed(ENTRY, "linux /a\n", words="a={b}", menu_s=None)
    with pytest.raises(InputError, match="bootloader's own"):
        changed(ENTRY, "linux /a\n", words="a\ninitrd /b", menu_s=None)
