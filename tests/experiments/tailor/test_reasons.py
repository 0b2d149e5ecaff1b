"""What a tailoring says of each option that stays, and of those that went with several others."""

from pathlib import Path

from bootlab.build.source.option_dependencies import KconfigTree, load_kconfig
from bootlab.build.source.origin import SourceTree
from bootlab.build.source.toolchain import require_toolchain
from bootlab.experiments.tailor.kernel_use import Use
from bootlab.experiments.tailor.reasons import Needed, every_followed, every_kept
from bootlab.experiments.tailor.unused_options import Drop, Kept

KCONFIG = """
mainmenu "Test"
config CIPHER
	bool "cipher"
	select LIBRARY
config HASH
	bool "hash"
	select LIBRARY
config DRIVER
	bool "driver"
config LIBRARY
	bool
config BOTH_OFF
	def_bool !CIPHER && !HASH
config EITHER
	def_bool CIPHER || HASH
"""


def drop(option: str, *lost: str, value: str = "n", why: str = "") -> Drop:
    return Drop(option, lost, (), (), 0, 0, Use.NEVER, value=value, why=why)


def test_every_option_that_stays_has_one_reason() -> None:
    looked_at = [Kept("EXT4", "executed: ext4_run in ext4.o", "used"), Kept("GONE", "executed", "used")]
    kept = every_kept(
        {"EXT4", "USB", "PCI", "NET", "NO_TESTS"},
        [*looked_at, Kept("PCI", "selected by X", "selected")],
        [Needed("NET", "check failed: no page"), Needed("TURNED_ON", "longer")],
        [drop("NO_TESTS", value="y", why="takes out tests by being on"), drop("SOUND")],
    )
    assert {one.option: (one.kind, one.why) for one in kept} == {
        "EXT4": ("used", "executed: ext4_run in ext4.o"),
        "NET": ("check", "without it: check failed: no page"),
        "NO_TESTS": ("turned on", "takes out tests by being on"),
        "PCI": ("selected", "selected by X"),
        "USB": ("untried", "could go: no build was left to try it"),
    }
    assert [one.option for one in kept] == ["EXT4", "NET", "NO_TESTS", "PCI", "USB"]


def test_what_went_with_several_others_says_with_which(tmp_path: Path) -> None:
    (tmp_path / "Kconfig").write_text(KCONFIG)
    config = "CONFIG_CIPHER=y\nCONFIG_HASH=y\nCONFIG_DRIVER=y\n"
    with load_kconfig(config, SourceTree(tmp_path, "id", "6.12"), require_toolchain("x86_64")) as kconf:
        before = KconfigTree(kconf)
    drops = [drop("CIPHER"), drop("HASH")]
    followed = every_followed(before, {"DRIVER", "BOTH_OFF"}, drops)
    assert {one.option: one.why for one in followed} == {
        "EITHER": "it followed from others",
        "LIBRARY": "all that selected it went: CIPHER, HASH",
    }
    assert every_followed(before, {"DRIVER"}, [drop("CIPHER"), drop("HASH", "LIBRARY", "EITHER")]) == ()
