"""BusyBox with a few of its applets: the configuration, and a real build of Debian's source."""

import platform
import shutil
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.programs.busybox import build_busybox, read_applet_options, reduced_config
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.process import run

SOURCE = """/* vi: set sw=4 ts=4: */
//applet:IF_CAT(APPLET(cat, BB_DIR_BIN, BB_SUID_DROP))
//applet:IF_TEST1(APPLET_NOFORK([,  test, BB_DIR_USR_BIN, BB_SUID_DROP, test))
//applet:IF_INSMOD(IF_NOT_MODPROBE_SMALL(APPLET_NOEXEC(insmod, insmod, BB_DIR_SBIN, BB_SUID_DROP, insmod)))
//applet:IF_SH_IS_ASH(APPLET_ODDNAME(sh, ash, BB_DIR_BIN, BB_SUID_DROP, ash))
//applet:IF_ASH(APPLET(ash, BB_DIR_BIN, BB_SUID_DROP))
"""
CONFIG = (
    "CONFIG_CAT=y\nCONFIG_FEATURE_CATN=y\nCONFIG_TEST1=y\nCONFIG_INSMOD=y\nCONFIG_ASH=y\nCONFIG_SH_IS_ASH=y\n"
    "# CONFIG_SH_IS_NONE is not set\n"
)


@pytest.fixture
def options(tmp_path: Path) -> dict[str, set[str]]:
    (tmp_path / "coreutils").mkdir()
    (tmp_path / "coreutils" / "all.c").write_text(SOURCE)
    return read_applet_options(tmp_path)


def test_each_applet_is_built_by_the_option_beside_it(options: dict[str, set[str]]) -> None:
    assert options == {"cat": {"CAT"}, "[": {"TEST1"}, "insmod": {"INSMOD"}, "sh": {"SH_IS_ASH"}, "ash": {"ASH"}}


def test_a_configuration_keeps_what_is_wanted_and_all_that_is_no_applet(options: dict[str, set[str]]) -> None:
    lines = reduced_config(CONFIG, options, ["sh", "["]).splitlines()
    assert {"CONFIG_TEST1=y", "CONFIG_SH_IS_ASH=y", "CONFIG_FEATURE_CATN=y", "# CONFIG_CAT is not set"} <= set(lines)
    assert "# CONFIG_ASH is not set" in lines
    # Of a choice one must be on.
    without = reduced_config(CONFIG, options, ["cat"]).splitlines()
    assert "CONFIG_SH_IS_NONE=y" in without and "# CONFIG_SH_IS_NONE is not set" not in without


@pytest.mark.parametrize("wanted", [[], ["busybox"]])
def test_a_busybox_without_an_applet_is_none(wanted: list[str], tmp_path: Path) -> None:
    # One of `true` alone, which it would have been, answers to whatever it is called.
    with pytest.raises(InputError, match="busybox_applets: there is no applet for busybox to have"):
        build_busybox(Workshop(Cache(tmp_path)), "bookworm", "x86_64", wanted, key="rootfs.busybox_applets")


@pytest.mark.network
@pytest.mark.skipif(
    platform.machine() != "x86_64" or shutil.which("x86_64-linux-gnu-gcc") is None, reason="needs gcc of this machine"
)
def test_debians_busybox_is_built_with_the_applets_that_are_named_and_no_others() -> None:
    shop = Workshop(Cache.default())
    built = build_busybox(shop, "bookworm", "x86_64", ["sh", "["], key="initramfs.busybox_applets")
    assert built.applets == ("[", "busybox", "sh") == tuple(run([built.path, "--list"]).text.split())
    assert run([built.path, "sh", "-c", "[ 1 -lt 2 ] && echo $((6 * 7))"]).text == "42\n"
    assert b"statically linked" in run(["file", built.path]).stdout
    assert built.path.stat().st_size < 1_400_000
    with pytest.raises(InputError, match=r"busybox_applets: busybox .* of Debian bookworm has no nosuch"):
        build_busybox(shop, "bookworm", "x86_64", ["sh", "nosuch"], key="initramfs.busybox_applets")
