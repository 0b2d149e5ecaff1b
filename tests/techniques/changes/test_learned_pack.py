"""What a boot that learns needs: a root of one's own that takes its time, and an init beside which to learn."""

from pathlib import Path

import pytest

from bootlab.sources import EXAMPLES
from bootlab.system import System, read_system
from bootlab.techniques.changes.learned_pack import boot_that_learns, expect_slow_root

SLOW = read_system(EXAMPLES / "readahead.toml")


@pytest.mark.parametrize(
    ("system", "why"),
    [
        (SLOW.model_copy(update={"rootfs": None}), "the system has no root file system"),
        (SLOW.with_part("rootfs", filesystem="erofs"), "the root is erofs; only ext4 is read ahead"),
        (SLOW.with_part("rootfs", model=None), "the root's disk answers at once on this clock"),
        (SLOW.with_cmdline("init=/bin/sh"), "init= on the command line starts another init"),
        (
            SLOW.with_part("rootfs", packages=(), scripts=False, run=(), files={"/a": Path("a")}),
            "nothing in the recipe brings /sbin/init",
        ),
    ],
)
def test_why_a_boot_learns_nothing(system: System, why: str) -> None:
    assert str(expect_slow_root(system)).startswith(why)


def test_a_boot_that_learns_is_done_when_it_has_printed_all() -> None:
    assert expect_slow_root(SLOW) is None
    learning = boot_that_learns(SLOW)
    assert learning.rootfs is not None and learning.rootfs.readahead is not None and learning.rootfs.readahead.record
    assert learning.check is not None and learning.check.console == r"bootlab: fact readahead\.end"
    assert learning.check.deadline_s == 300 and learning.check.send is None
