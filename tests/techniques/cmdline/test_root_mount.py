"""Options of the root's mount: where they apply, how they join those that are there, and what proves them."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from bootlab.sources import EXAMPLES
from bootlab.system import System, read_system
from bootlab.techniques.model.evidence import Effect, Evidence
from tests.techniques.asking import ALL, NOTHING, applied, why_not

Make = Callable[..., Evidence]
DEBIAN = read_system(EXAMPLES / "distribution/on-hdd.toml")
SHOWN = {
    "cmdline_noatime": "noatime",
    "cmdline_data_writeback": "data=writeback",
    "cmdline_journal_commit": "commit=60",
    "cmdline_nobarrier": "nobarrier",
}


@pytest.mark.parametrize(("name", "shown"), SHOWN.items())
def test_an_option_is_proved_by_the_mount_that_has_it(name: str, shown: str, evidence: Make) -> None:
    prove = ALL[name].proof.prove
    plain, with_it = (evidence(root_mount=f"ext4 rw,relatime{more}") for more in ("", f",{shown}"))
    assert prove(with_it, plain) is Effect.PROVEN and prove(plain, plain) is Effect.NONE
    assert prove(evidence(), plain) is Effect.NOT_SHOWN and prove(with_it, with_it) is Effect.NOT_SHOWN


def test_options_join_those_that_are_there(system: System) -> None:
    once = applied("cmdline_noatime", DEBIAN)
    assert once.kernel.cmdline.endswith(" rootflags=noatime")
    twice = applied("cmdline_journal_commit", once)
    assert (
        twice.kernel.cmdline.endswith(" rootflags=noatime,commit=60") and twice.kernel.cmdline.count("rootflags") == 1
    )
    assert why_not("cmdline_noatime", twice) == "rootflags= has noatime already"


def test_where_it_cannot_take_effect(system: System) -> None:
    for name in SHOWN:
        assert why_not(name, system) == "the system has no root file system"
        assert why_not(name, DEBIAN.with_part("rootfs", filesystem="squashfs")) == "the root is squashfs"
        below = replace(NOTHING, facts={"root_mount": "overlay rw"})
        assert ALL[name].change.applies(DEBIAN, below) == "the root is mounted as overlay"
        own = read_system(EXAMPLES / "readahead.toml")
        assert "own init mounts the root" in why_not(name, own)
    bare = DEBIAN.model_copy(update={"initramfs": None})
    assert "/etc/fstab can say it" in why_not("cmdline_noatime", bare)
    assert ALL["cmdline_data_writeback"].change.applies(bare, NOTHING) is None


def test_a_check_is_left_out_where_there_was_one(evidence: Make) -> None:
    technique = ALL["cmdline_fsck_skip"]
    assert "did not say" in why_not("cmdline_fsck_skip", DEBIAN)
    nothing, root = (replace(NOTHING, facts={"checked": told}) for told in ("", "fsck-root"))
    assert technique.change.applies(DEBIAN, nothing) == "the baseline boot had no file system checked"
    assert technique.change.applies(DEBIAN, root) is None
    prove = technique.proof.prove
    checked, unchecked = evidence(checked="fsck-root"), evidence(checked="")
    assert prove(unchecked, checked) is Effect.PROVEN and prove(checked, checked) is Effect.NONE
    assert prove(evidence(), checked) is Effect.NOT_SHOWN
