"""Configurations as text: what is read, what contradicts, what a base becomes, what counts as granted."""

from pathlib import Path

import pytest

from bootlab.build.source.config_text import (
    INITRAMFS_FILE,
    Asked,
    collect_kernel,
    merge,
    named_options,
    parse_config,
    read_fragment,
    same_value,
)
from bootlab.errors import InputError
from bootlab.system import KernelBuild

BASE = """#
# Automatically generated file; DO NOT EDIT.
#
CONFIG_CC_VERSION_TEXT="gcc (Debian) 12.2.0"
CONFIG_64BIT=y
# CONFIG_SMP is not set
CONFIG_HZ=250
CONFIG_PHYSICAL_START=0x1000000
CONFIG_EXT4_FS=m
CONFIG_CMDLINE="say=\\"hi\\" path=\\\\x"
CONFIG_DEFAULT_HOSTNAME="(none)"
"""


def fragment(folder: Path, name: str, text: str) -> Path:
    """Write a fragment."""
    path = folder / name
    path.write_text(text)
    return path


def build(*fragments: Path, **options: str) -> KernelBuild:
    """Return a request with these fragments and options."""
    return KernelBuild(package="linux-source-6.12", fragments=fragments, options=options)


def test_options_that_are_off_are_absent_and_text_has_no_quotes() -> None:
    assert parse_config(BASE) == {
        "CC_VERSION_TEXT": "gcc (Debian) 12.2.0",
        "64BIT": "y",
        "HZ": "250",
        "PHYSICAL_START": "0x1000000",
        "EXT4_FS": "m",
        "CMDLINE": 'say="hi" path=\\x',
        "DEFAULT_HOSTNAME": "(none)",
    }


def test_a_fragment_says_who_asked(tmp_path: Path) -> None:
    path = fragment(tmp_path, "a.config", "# a comment\n\nCONFIG_HZ=100\n# CONFIG_SMP is not set\n  CONFIG_PCI=n\n")
    assert read_fragment(path, "here") == [
        Asked("HZ", "100", f"{path}:3"),
        Asked("SMP", "n", f"{path}:4"),
        Asked("PCI", "n", f"{path}:5"),
    ]


@pytest.mark.parametrize("line", ["SMP=y", "CONFIG_SMP", "CONFIG_SMP = y", "config_smp=y", "-CONFIG_SMP=y"])
def test_a_line_that_is_no_option_is_told_with_its_number(tmp_path: Path, line: str) -> None:
    path = fragment(tmp_path, "a.config", f"CONFIG_HZ=100\n{line}\n")
    with pytest.raises(
        InputError, match=r"kernel\.build\.fragments\[0\]: .*a\.config:2: not a line of a configuration"
    ):
        collect_kernel(build(path), embedded=False)


def test_a_fragment_that_is_no_text_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.config"
    path.write_bytes(b"\x1f\x8b\x08\xff\xfe")
    with pytest.raises(InputError, match="not UTF-8 text"):
        collect_kernel(build(path), embedded=False)


def test_contradictory_fragments_name_both_places(tmp_path: Path) -> None:
    first = fragment(tmp_path, "a.config", "CONFIG_SMP=y\nCONFIG_HZ=100\nCONFIG_PCI=y\n")
    second = fragment(tmp_path, "b.config", "CONFIG_PCI=y\n# CONFIG_SMP is not set\nCONFIG_HZ=250\n")
    with pytest.raises(InputError) as caught:
        collect_kernel(build(first, second), embedded=False)
    assert caught.value.message.splitlines() == [
        f"kernel.build.fragments: CONFIG_SMP: {first}:1 says y, {second}:2 says n",
        f"kernel.build.fragments: CONFIG_HZ: {first}:2 says 100, {second}:3 says 250",
    ]


def test_options_overrule_fragments_and_end_their_quarrels(tmp_path: Path) -> None:
    first = fragment(tmp_path, "a.config", "CONFIG_SMP=y\n")
    second = fragment(tmp_path, "b.config", "CONFIG_SMP=n\n")
    asked = collect_kernel(build(first, second, SMP="n"), embedded=False)
    assert asked["SMP"] == Asked("SMP", "n", "kernel.build.options.SMP")


def test_an_embedded_initramfs_is_asked_for_by_a_name_without_a_place() -> None:
    asked = collect_kernel(build(), embedded=True)
    assert asked["INITRAMFS_SOURCE"].value == INITRAMFS_FILE
    assert asked["INITRAMFS_COMPRESSION_NONE"].value == "y"
    packed = collect_kernel(build(INITRAMFS_COMPRESSION_LZ4="y"), embedded=True)
    assert "INITRAMFS_COMPRESSION_NONE" not in packed


def test_a_user_does_not_set_the_embedded_initramfs_by_hand() -> None:
    with pytest.raises(InputError, match="bootlab sets INITRAMFS_SOURCE itself") as caught:
        collect_kernel(build(INITRAMFS_SOURCE="/tmp/root.cpio"), embedded=False)
    assert caught.value.hint == "initramfs.embedded = true"


def test_what_is_asked_for_replaces_the_base_and_stands_last() -> None:
    asked = [
        Asked("HZ", "100", ""),
        Asked("64BIT", "n", ""),
        Asked("CMDLINE", 'a "b" \\c', ""),
        Asked("KERNEL_LZ4", "y", ""),
    ]
    kinds = {"HZ": "int", "64BIT": "bool", "CMDLINE": "string", "KERNEL_LZ4": "bool"}
    merged = merge(BASE, asked, kinds)
    assert merged.splitlines()[-5:] == [
        "# CONFIG_LOCALVERSION_AUTO is not set",
        "CONFIG_HZ=100",
        "# CONFIG_64BIT is not set",
        'CONFIG_CMDLINE="a \\"b\\" \\\\c"',
        "CONFIG_KERNEL_LZ4=y",
    ]
    assert merged.count("CONFIG_HZ=") == 1
    assert parse_config(merged)["CMDLINE"] == 'a "b" \\c'
    assert "CONFIG_EXT4_FS=m" in merged


@pytest.mark.parametrize(
    ("asked", "got", "kind", "same"),
    [
        ("y", "y", "bool", True),
        ("n", None, "bool", True),
        ("m", "y", "tristate", False),
        ("y", None, "bool", False),
        ("0x10", "0x00000010", "hex", True),
        ("10", "0x10", "hex", True),
        ("100", "100", "int", True),
        ("100", "250", "int", False),
        ("", None, "string", True),
        ("", "", "string", True),
        ("quiet", "quiet", "string", True),
        ("fast", "5", "int", False),
    ],
)
def test_numbers_are_compared_as_numbers_and_off_is_absent(asked: str, got: str | None, kind: str, same: bool) -> None:
    assert same_value(asked, got, kind) is same


def test_a_whole_configuration_names_what_is_not_set_too() -> None:
    named = named_options(BASE, "old.config")
    assert [one.option for one in named] == [
        *("CC_VERSION_TEXT", "64BIT", "SMP", "HZ", "PHYSICAL_START", "EXT4_FS", "CMDLINE", "DEFAULT_HOSTNAME")
    ]
    assert named[2] == Asked("SMP", "n", "old.config:6")
    assert named[0].value == "gcc (Debian) 12.2.0"
