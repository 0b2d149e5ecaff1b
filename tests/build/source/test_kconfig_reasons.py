"""Why kconfig refused, on a Kconfig tree with one of each reason."""

from pathlib import Path

import pytest

from bootlab.build.source.kconfig_reasons import Refusal, explain
from bootlab.build.source.origin import SourceTree
from bootlab.build.source.toolchain import require_toolchain

KCONFIG = """
mainmenu "Test"

config MODULES
	bool "modules"
	modules

config BLOCK
	bool "block layer"

config BLK_DEV
	bool "block devices"
	depends on BLOCK

config VIRTIO
	bool "virtio"

config VIRTIO_BLK
	tristate "virtio disks"
	depends on VIRTIO && BLK_DEV

config HVC
	bool "a console"
	depends on VIRTIO || XEN || NET && BLOCK

config NET
	bool "network"

config TINY
	bool "tiny"
	depends on !NET

config LIBRARY
	bool
	default y if BLOCK

config DRIVER
	bool "driver"
	select LIBRARY
	select CHOSEN

config CHOSEN
	bool "chosen by a driver"

config EXPERT
	bool "expert"

config PRINTK
	bool "messages" if EXPERT
	default y

config SHIFT
	int "size"
	range 12 25
	default 17

config ADDRESS
	hex "address"
	range 0x100 0x1000
	default 0x100

choice
	prompt "compression"
	default GZIP

config GZIP
	bool "gzip"

config LZ4
	bool "lz4"

endchoice

source "arch/$(SRCARCH)/Kconfig"
"""


@pytest.fixture
def source(tmp_path: Path) -> SourceTree:
    """A tree of two Kconfig files."""
    (tmp_path / "Kconfig").write_text(KCONFIG)
    (tmp_path / "arch/x86").mkdir(parents=True)
    (tmp_path / "arch/x86/Kconfig").write_text('config X86\n\tdef_bool y\n\nconfig FAST\n\tbool "fast"\n')
    return SourceTree(tmp_path, "test", "6.12.0")


@pytest.mark.parametrize(
    ("option", "asked", "config", "reason"),
    [
        ("VIRTIO_BLK", "y", "", "needs VIRTIO=y (is n), BLK_DEV=y (is n, which needs BLOCK=y (is n))"),
        ("VIRTIO_BLK", "m", "CONFIG_VIRTIO=y\n", "m needs MODULES=y (is n)"),
        ("BLK_DEV", "y", "", "needs BLOCK=y (is n)"),
        (
            "HVC",
            "y",
            "",
            "needs one of: VIRTIO=y (is n) | XEN, which this architecture does not have | "
            "NET=y (is n) and BLOCK=y (is n)",
        ),
        ("TINY", "y", "CONFIG_NET=y\n", "needs NET=n (is y)"),
        ("CHOSEN", "n", "CONFIG_DRIVER=y\n", "is selected by DRIVER"),
        ("LIBRARY", "y", "", "cannot be asked for: it has no prompt; DRIVER would select it"),
        ("LIBRARY", "n", "CONFIG_BLOCK=y\n", "has no prompt, and is on by default"),
        ("PRINTK", "n", "", "can be turned off only with EXPERT=y (is n)"),
        ("SHIFT", "99", "", "it must be from 12 to 25"),
        ("SHIFT", "many", "", "it is a whole number"),
        ("ADDRESS", "0x10", "", "it must be from 0x100 to 0x1000"),
        ("GZIP", "y", "CONFIG_LZ4=y\n", "is one of a choice, and LZ4 was taken"),
        ("GZIP", "n", "", "is what a choice took; ask for another member as y: LZ4"),
        ("BLOCK", "m", "", "it is y or n"),
        ("VIRTIO_BLK", "yes", "", "it is y, m or n"),
        ("ARM_LPAE", "y", "", "it is an option of other architectures"),
    ],
)
def test_the_reason_is_named(source: SourceTree, option: str, asked: str, config: str, reason: str) -> None:
    assert explain([Refusal(option, asked)], config, source, require_toolchain("x86_64")) == {option: reason}


def test_a_tree_in_another_language_still_refuses(source: SourceTree) -> None:
    (source.tree / "Kconfig").write_text("config A\n\tboolean maybe nonsense ((\n")
    assert "kconfig decided otherwise" in explain([Refusal("A", "y")], "", source, require_toolchain("x86_64"))["A"]
