"""Values that are tried on a fitted kernel: what they change there, and which are not tried at all."""

from pathlib import Path

import pytest

from bootlab.build.source.option_dependencies import KconfigTree, load_kconfig
from bootlab.build.source.origin import SourceTree
from bootlab.build.source.toolchain import require_toolchain
from bootlab.experiments.tailor.protected import Policy
from bootlab.experiments.tailor.values import Value, find_change
from tests.experiments.tailor.test_protected import system

KCONFIG = """
choice
	prompt "ticks"
config HZ_100
	bool "100"
config HZ_250
	bool "250"
endchoice
config SLOW
	bool "needs fast ticks"
	depends on HZ_250
	default y
config SECCOMP_FILTER
	bool "filters"
	depends on ROOM > 4
	default y
config ROOM
	int "room"
	range 1 100
	default 17
config ARCH_MMAP_RND_BITS
	int "random bits"
	default 28
choice
	prompt "memory of new processes"
config PLAIN
	bool "plain"
config INIT_STACK_NONE
	bool "as it lies"
config COMPAT_BRK
	bool "as old programs want it"
endchoice
"""


@pytest.fixture
def tree(tmp_path: Path) -> KconfigTree:
    (tmp_path / "Kconfig").write_text(KCONFIG)
    config = "CONFIG_HZ_250=y\nCONFIG_ROOM=17\nCONFIG_ARCH_MMAP_RND_BITS=28\nCONFIG_PLAIN=y\n"
    with load_kconfig(config, SourceTree(tmp_path, "id", "6.12"), require_toolchain("x86_64")) as kconf:
        return KconfigTree(kconf)


def test_what_a_value_changes_is_named(tree: KconfigTree) -> None:
    drop = find_change(tree, Value("HZ_100", "y"), Policy(system()))
    assert not isinstance(drop, str)
    assert (drop.option, drop.value, drop.lost, drop.gained) == ("HZ_100", "y", ("HZ_250", "SLOW"), ())
    assert drop.why == "asked for with --try; it was n"
    drop = find_change(tree, Value("ROOM", "12"), Policy(system()))
    assert not isinstance(drop, str) and (drop.value, drop.lost) == ("12", ())
    assert (tree.value("ROOM"), tree.value("HZ_250")) == ("17", "y"), "nothing of it stays"


@pytest.mark.parametrize(
    ("value", "keep", "said"),
    [
        (Value("ROOM", "17"), (), "it is 17 already"),
        (Value("ROOM", "200"), (), "kconfig leaves it at 17"),
        (Value("HZ_100", "y"), ("SLOW",), "SLOW would go, asked for with --keep"),
        (Value("ROOM", "3"), (), "SECCOMP_FILTER would go, access-control: goes only by name"),
        (Value("ARCH_MMAP_RND_BITS", "1"), (), "less protection, hardening: goes only by name"),
        (Value("COMPAT_BRK", "y"), (), "less protection, "),
    ],
)
def test_a_value_that_is_not_tried(value: Value, keep: tuple[str, ...], said: str, tree: KconfigTree) -> None:
    found = find_change(tree, value, Policy(system(), keep=keep))
    assert isinstance(found, str) and found.startswith(said)


def test_protection_goes_by_its_name_and_what_the_system_asks_off_stays_off(tree: KconfigTree) -> None:
    bits = Value("ARCH_MMAP_RND_BITS", "1")
    assert not isinstance(find_change(tree, bits, Policy(system(), give_up=["hardening"])), str)
    assert not isinstance(find_change(tree, Value("ROOM", "3"), Policy(system(), give_up=["SECCOMP_FILTER"])), str)
    assert find_change(tree, Value("HZ_100", "y"), Policy(system(HZ_100="n"))) == "kernel.build.options asks for n"
