"""What a boot was to learn and has not: each way to end without a pack or habits has its reason."""

import pytest

from bootlab.measure.causes.learning import find_learning_cause
from bootlab.system import System

BOTH = {"readahead": {"record": True}, "preload": {"record": True}}
HABITS = {"preload": {"record": True}}
WATCHING = "bootlab: fact preload.watching yes\r\n"
ENDS = "bootlab: fact readahead.end 12\r\nbootlab: fact preload.end 7\r\n"


def system(**root: object) -> System:
    return System.model_validate(
        {
            "name": "test",
            "machine": {"type": "q35"},
            "kernel": {"image": "vmlinuz", "cmdline": "root=/dev/vda"},
            "rootfs": {"packages": ["systemd-sysv"], "filesystem": "ext4", **root},
            "booted": {"mark": "ready"},
        }
    )


def test_a_boot_that_has_learned_or_was_not_to_misses_nothing() -> None:
    assert find_learning_cause(system(**BOTH), WATCHING + ENDS) is None
    assert find_learning_cause(system(), "") is None
    assert find_learning_cause(system(readahead={}, preload={}), "") is None
    assert find_learning_cause(system().model_copy(update={"rootfs": None}), "") is None


def test_each_of_both_that_is_missing_is_named() -> None:
    cause = find_learning_cause(system(**BOTH), WATCHING)
    assert cause is not None
    pack, _, habits = cause.partition("; bootlab-preload")
    assert pack.startswith("bootlab-readahead has printed no pack: ")
    assert "before multi-user.target (rootfs.readahead.goal) was reached" in pack
    assert 'check.console = "fact readahead.end" waits for it' in pack
    assert 'check.console = "fact preload.end" waits for it' in habits
    alone = find_learning_cause(system(**BOTH), ENDS.splitlines()[1])
    assert alone is not None and "preload" not in alone


@pytest.mark.parametrize(
    ("console", "why"),
    [
        ("bootlab: fact preload.missed guest\r\n", "not there yet when a session of guest began"),
        (WATCHING + "bootlab: fact preload.failed Operation not permitted\r\n", "Operation not permitted"),
        (WATCHING, "no session began"),
        ("", "it was never started: default.target wants bootlab-preload.service"),
    ],
)
def test_habits_that_are_missing_have_their_reason(console: str, why: str) -> None:
    assert why in (find_learning_cause(system(**HABITS), console) or "")


def test_the_other_init_needs_a_unit() -> None:
    own = system(**BOTH, bootlab_init=True)
    cause = find_learning_cause(own, "")
    assert cause is not None and "before the last unit was reached" in cause
    assert "it needs a unit with exec /sbin/bootlab-preload watch" in cause
