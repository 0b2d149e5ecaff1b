"""systemd-boot's menu: which entry is its first, and which its configuration takes."""

import pytest

from bootlab.build.image.boot_entries import BootMenu, parse_entry
from bootlab.build.image.efi_program import parse_efi_program
from bootlab.build.image.systemd_boot import find_default, in_menu_order, parse_loader_conf, uki_entry
from tests.build.image.small_images import efi_program, kernel


def order(texts: dict[str, str]) -> list[str]:
    return [one.file for one in in_menu_order([parse_entry(text, name) for name, text in texts.items()])]


def test_the_entry_that_systemd_boot_takes() -> None:
    texts = {"new": "version\t9\nlinux\t/new\n", "old+3-1": "linux  /old\n", "worn+0-3": "version 10\nlinux /worn\n"}
    entries = in_menu_order([parse_entry(text, name) for name, text in texts.items()])
    # Without a sort key the version does not count, and names go backwards.
    assert [(one.kernel, one.identity, one.file) for one in entries] == [
        ("/old", "old", "old+3-1"), ("/new", "new", "new"), ("/worn", "worn", "worn+0-3"),
    ]  # fmt: skip
    # A number is a pattern, and no place in the menu.
    for default, path in (("new", "/new"), ("n*", "/new"), ("@saved", "/old"), ("", "/old"), ("1", "/old")):
        chosen = BootMenu(tuple(entries), default=find_default(entries, default)).chosen
        assert chosen is not None and chosen.kernel == path


def test_a_sort_key_comes_before_none_and_has_the_newest_version_first() -> None:
    entry = "linux /a\nsort-key {}\nmachine-id {}\nversion {}\n"
    found = order({
        "z": "linux /z\n",
        "a-6.9": entry.format("debian", "aa", "6.9"),
        "a-6.10": entry.format("debian", "aa", "6.10"),
        "b-6.12": entry.format("debian", "bb", "6.12"),
        "arch": entry.format("arch", "cc", "1"),
        "c+0": entry.format("arch", "aa", "9"),
    })  # fmt: skip
    assert found == ["arch", "a-6.10", "a-6.9", "b-6.12", "z", "c+0"]


def test_a_uki_is_called_by_its_os_release_and_its_file() -> None:
    text = b'PRETTY_NAME="Small 2"\nID=small\nVERSION_ID=2\nVERSION="2 (two)"\n\0'
    program = parse_efi_program(efi_program({".linux": kernel(), ".osrel": text}))
    found = uki_entry(program, "Small-2+3-0.EFI")
    assert (found.title, found.sort_key, found.version) == ("Small 2", "small", "2 (two)")
    assert (found.identity, found.file) == ("small-2.efi", "Small-2+3-0")
    bare = uki_entry(parse_efi_program(efi_program({".linux": kernel()})), "a.efi")
    assert (bare.title, bare.sort_key, bare.version) == ("a.efi", "", "")


def test_an_os_release_that_is_blank_for_long_is_read_at_once() -> None:
    """Half a million lines: whoever looks at each together with all behind it would take days."""
    text = b"\n" * 500_000 + b"ID=" + b" " * 500_000 + b"small\n"
    program = parse_efi_program(efi_program({".linux": kernel(), ".osrel": text}))
    assert uki_entry(program, "a.efi").sort_key == "small"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("timeout 3\ndefault debian-*\n", (3.0, "debian-*")),
        ("#timeout 3\n", (None, "")),
        (f"timeout {'9' * 400}\n", (None, "")),
        ("timeout menu-force\n", (-1.0, "")),
        ("timeout\n\ndefault  \n", (None, "")),
    ],
)
def test_loader_conf(text: str, expected: tuple[float | None, str]) -> None:
    assert parse_loader_conf(text) == expected
