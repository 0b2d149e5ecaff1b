"""The account of a profile: it closes for every sound boot, and what is off is said."""

import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.reader import parse_profile
from bootlab.profile.recorded.record_types import ChunkKind, Space
from bootlab.profile.tables.account import make_account
from bootlab.profile.tables.coverage import find_coverage
from bootlab.profile.tables.initcalls import find_initcalls
from bootlab.profile.tree.call_tree import build_call_tree
from bootlab.profile.waits.off_cpu import find_off_cpu

FUNCTIONS = ("start_kernel", "schedule", "do_one_initcall", "msleep")
ISSUE = [
    "instructions",
    "attributed_instructions",
    "idle_ns",
    "virtual_ns",
    "named_kernel_share",
    "mismatched_return_share",
]


def parse(data: bytes) -> Profile:
    return parse_profile(data, FUNCTIONS, 0)


@pytest.mark.parametrize("seed", range(5))
def test_random_boots_close(make_boot: Callable[[int], Any], seed: int) -> None:
    account = make_account(parse(make_boot(seed).finish()))
    assert account.closed and account.faults == ()
    assert account.ready == account.end  # None of them has a mark `ready`.


def a_boot(writer: Any) -> Profile:
    writer.task("swapper/0", 0)
    writer.spend("[firmware];firmware+0x12", 500, space=Space.STAGE)
    writer.cut("kernel_entry")
    writer.spend("swapper/0-0;start_kernel", 900)
    writer.spend("swapper/0-0;start_kernel;[kernel]", 60)
    writer.spend("swapper/0-0;start_kernel;probe [virtio]", 40)
    writer.idle("swapper/0-0;schedule", 200)
    writer.counts = (10_000, 5, 0, 0, 0, 0)
    writer.cut("ready")
    writer.spend("init-1;[user]", 100)
    writer.spend("init-1;main [init]", 100)
    return parse(writer.end())


def test_the_account_at_ready_and_at_the_end(profile_writer: Any) -> None:
    profile = a_boot(profile_writer)
    account = make_account(profile)
    assert account.closed
    assert list(account.as_json())[:6] == ISSUE
    ready, end = account.ready, account.end
    assert (ready.at, ready.instructions, ready.attributed_instructions) == ("ready", 1500, 1500)
    assert (ready.idle_ns, ready.virtual_ns) == (200, 1700)
    assert (end.at, end.instructions, end.virtual_ns) == ("end", 1700, 1900)
    assert ready.named_kernel_share == 0.94 and ready.mismatched_return_share == 5e-4
    assert (ready.outside_task_share, ready.outside_function_share) == (0, 0.04)
    assert end.outside_function_share == 160 / 1700


def test_firmware_beneath_the_kernel_is_no_kernel_without_names(profile_writer: Any) -> None:
    profile_writer.task("swapper/0", 0)
    profile_writer.spend("swapper/0-0;start_kernel", 10)
    profile_writer.spend("swapper/0-0;start_kernel;[firmware]", 20)
    profile_writer.spend("swapper/0-0;start_kernel;[firmware];firmware@0x80005800", 70)
    end = make_account(parse(profile_writer.end())).end
    assert (end.instructions, end.named_kernel_share, end.outside_function_share) == (100, 1, 0)


def test_what_was_pruned_counts_as_outside(profile_writer: Any) -> None:
    profile = a_boot(profile_writer)
    shown = build_call_tree(profile, profile.up_to("ready")).pruned(50, "instructions")
    ready = make_account(profile, shown).ready
    assert ready.pruned_share == 40 / 1500
    assert ready.outside_share == pytest.approx(100 / 1500)


def test_what_is_off_is_said(profile_writer: Any) -> None:
    writer = profile_writer
    writer.task("swapper/0", 0)
    writer.spend("swapper/0-0;start_kernel", 1000)
    writer.add(ChunkKind.WEIGHT, 0, 0, 7)
    writer.instructions += 12
    writer.t_ns += 15
    writer.cut("ready")
    writer.idle("swapper/0-0;schedule", 5)
    writer.idle_ns = 9
    account = make_account(parse(writer.end()))
    assert not account.closed and not account.ready.closed
    assert account.ready.attributed_instructions == 1000
    assert account.faults == (
        "up to ready: 12 of 1012 instructions are in no task or stage",
        "up to ready: 3 of 1015 ns are neither executed nor idle nor charged",
        "the idle stretches add up to 5 ns, the plugin counted 9 ns",
    )


def test_what_was_charged_to_the_clock_closes_the_account(profile_writer: Any) -> None:
    writer = profile_writer
    writer.task("swapper/0", 0)
    writer.spend("swapper/0-0;start_kernel", 1000)
    writer.add(ChunkKind.CHARGED, writer.t_ns, writer.t_ns + 2500, writer.node("swapper/0-0;start_kernel"), 0, 0)
    writer.t_ns += 2500
    writer.cut("ready")
    account = make_account(parse(writer.end()))
    assert account.closed and account.ready.charged_ns == 2500 and account.ready.idle_ns == 0
    assert account.as_json()["charged_ns"] == 2500 and account.ready.virtual_ns == 3500


def test_a_cut_off_profile_says_so(profile_writer: Any) -> None:
    profile_writer.task("swapper/0", 0)
    profile_writer.spend("swapper/0-0;start_kernel", 1000)
    profile_writer.cut("initcalls_start")
    account = make_account(parse(profile_writer.data()))
    assert account.faults == ("the profile was cut off: QEMU or the plugin did not end it",)
    assert account.ready.closed and not account.closed


def test_a_profile_of_nothing(profile_writer: Any) -> None:
    """A QEMU that was ended before its first instruction leaves the root of all, and nothing else."""
    profile = parse(profile_writer.end())
    for bare in (profile, replace(profile, nodes=profile.nodes[:0])):
        tree = build_call_tree(bare)
        assert list(tree.folded()) == [] and tree.top_functions() == [] and len(find_off_cpu(bare)) == 0
        assert len(tree.pruned(1)) <= 1
        account = make_account(bare)
        assert account.closed and account.ready.instructions == 0 and account.ready.named_kernel_share is None
        assert find_coverage(bare).up_to_ready == () and find_initcalls(bare, {}, {}).lanes == ()


def test_a_larger_ns_per_instruction(profile_writer: Any) -> None:
    profile_writer.task("swapper/0", 0)
    profile_writer.spend("swapper/0-0;start_kernel", 1000)
    profile_writer.t_ns = 2000
    profile_writer.idle("swapper/0-0;schedule", 30)
    data = profile_writer.end()
    assert struct.unpack_from("<q", data, len(data) - 24)[0] == 2030
    assert make_account(parse_profile(data, FUNCTIONS, 1)).closed
    assert not make_account(parse_profile(data, FUNCTIONS, 0)).closed
