"""A board's profile: from SPL's first instruction through U-Boot, which moves itself, to what the kernel starts."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.profile.recorded.about import read_about
from bootlab.profile.recorded.compressed import read_kept
from bootlab.profile.recorded.record_types import Integers
from bootlab.system import read_system
from bootlab.timeline import marks as m
from tests.boot.conftest import node_totals

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

EXAMPLE = Path(__file__).parents[3] / "examples" / "board.toml"
ProfileBoot = Callable[..., Any]


@pytest.fixture(scope="module")
def profiled(profile_boot: ProfileBoot) -> Any:
    return profile_boot(EXAMPLE)


@pytest.fixture(scope="module")
def totals(profiled: Any) -> Integers:
    """Each node's instructions, with all below it."""
    return node_totals(profiled.profile)


def paths_with(profile: Any, *names: str) -> Iterator[int]:
    """Return the nodes of a function whose stack has these names, in this order, and ends with the last."""
    wanted = [number for number, name in enumerate(profile.names) if name == names[-1]]
    for node in range(1, len(profile.nodes)):
        if profile.nodes["function"][node] in wanted:
            path = iter(profile.path(node))
            if all(name in path for name in names):
                yield node


def test_the_account_closes(profiled: Any) -> None:
    account = profiled.document["account"]
    assert account["closed"] is True and account["faults"] == []
    assert account["attributed_instructions"] == account["instructions"] > 200_000_000
    assert account["named_kernel_share"] > 0.999
    counts = profiled.profile.counts[-1]
    assert counts["mismatched_returns"] == 0 and counts["returns"] > 1_000_000
    assert counts["interrupts"] > 50 and counts["switches"] > 100


@pytest.mark.parametrize(
    ("names", "least"),
    [
        (
            (
                "[SPL]",
                "reset [SPL]",
                "board_init_r [SPL]",
                "spl_mmc_load_image [SPL]",
                "mmc_bread [SPL]",
            ),
            1e6,
        ),
        (("[SPL]", "sunxi_dram_init [SPL]", "__udelay [SPL]"), 1e6),
        # Where it is linked to, and where it has moved.
        (("[U-Boot]", "_main [U-Boot]", "board_init_f [U-Boot]", "initcall_run_list [U-Boot]"), 1e6),
        (
            ("[U-Boot]", "board_init_r [U-Boot]", "run_main_loop [U-Boot]", "do_load [U-Boot]", "mmc_bread [U-Boot]"),
            1e6,
        ),
        (("swapper/0-0", "start_kernel", "setup_arch", "paging_init"), 1e6),
        (("ret_from_fork", "kernel_init", "kernel_init_freeable", "do_one_initcall", "blake2s_mod_init"), 1e5),
        (("ret_from_fork", "kthread", "worker_thread", "process_one_work", "deferred_probe_work_func"), 1e6),
        # A system call, called through the table; a page fault; an interrupt.
        (("vector_swi", "sys_execve"), 1e4),
        (("__dabt_usr", "do_DataAbort"), 1e3),
        (("__irq_svc", "generic_handle_arch_irq"), 1e3),
    ],
)
def test_functions_are_where_they_were_called(
    profiled: Any, totals: Integers, names: tuple[str, ...], least: float
) -> None:
    found = list(paths_with(profiled.profile, *names))
    assert found, names
    assert sum(int(totals[node]) for node in found) >= least


def test_each_stage_has_all_of_its_phase(profiled: Any, totals: Integers) -> None:
    profile, marks = profiled.profile, profiled.trace.marks
    tops = {profile.names[profile.nodes["function"][node]]: int(totals[node]) for node in profile.shape.levels[1]}
    instructions = {name: mark.instructions for name, mark in marks.items()}
    assert tops["[SPL]"] == instructions[m.UBOOT_ENTRY] - instructions[m.SPL_ENTRY]
    assert tops["[U-Boot]"] == instructions[m.IMAGE_ENTRY] - instructions[m.UBOOT_ENTRY]
    assert tops["[decompressor]"] == instructions[m.KERNEL_ENTRY] - instructions[m.IMAGE_ENTRY]


def test_tasks_have_their_names_and_initcalls_their_levels(profiled: Any) -> None:
    names = {(task.pid, task.name) for task in profiled.profile.tasks}
    # A kernel for one CPU calls it so; with SMP it is swapper/0.
    assert {(1, "init"), (2, "kthreadd"), (0, "swapper")} <= names
    levels = {row["name"]: row["level"] for row in profiled.document["initcalls"]["initcalls"]}
    assert levels["of_platform_default_populate_init"] == "arch" and levels["deferred_probe_initcall"] == "late"


def test_a_bootloader_waits_busily_and_has_its_advice(profiled: Any) -> None:
    activity = profiled.document["activity"]
    phases = {phase["name"]: phase for phase in activity["phases"]}
    assert phases["SPL"]["bound"] == "wait" and phases["decompressor"]["bound"] == "cpu"
    assert 2 * phases["SPL"]["busy_wait_ns"] > phases["SPL"]["busy_ns"]
    first = next(one for one in activity["busy_waits"] if one["who"] == "[SPL]")
    assert (first["kind"], first["function"], first["caller"], first["times"]) == (
        "delay",
        "udelay",
        "twsi_i2c_init",
        1,
    )
    assert 20_000_000 <= first["ns"] < 20_100_000, "the 20 ms that its source asks for"
    advice = {item["what"]: item for item in profiled.document["advice"]["items"]}
    assert advice["U-Boot proper"]["remedy"]["technique"] == "bootloader_falcon"


def test_profiles_repeat_and_the_guest_does_not_notice(
    profiled: Any, profile_boot: ProfileBoot, shop: Workshop, tmp_path: Path
) -> None:
    again = profile_boot(EXAMPLE, again=True)
    kept = [read_kept(one.directory / "profile.bin") for one in (profiled, again)]
    assert kept[0] == kept[1]
    record = boot(prepare(shop, read_system(EXAMPLE)), tmp_path)
    assert record.instructions == profiled.profile.end_instructions
    assert (tmp_path / "console.log").read_bytes() == (profiled.directory / "console.log").read_bytes()


def test_programs_go_by_their_files(profiled: Any) -> None:
    # The kernel has no types of its own (CONFIG_DEBUG_INFO_BTF): its compiler was asked for them.
    assert "[busybox]" in profiled.profile.names
    assert not any("no types" in line for line in read_about(profiled.directory).missing)
