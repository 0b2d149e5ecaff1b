"""The riscv64 board's profile: SPL, OpenSBI beneath all that it starts, and U-Boot, which moves itself."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bootlab.timeline import marks as m
from tests.boot.conftest import node_totals

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

EXAMPLE = Path(__file__).parents[3] / "examples" / "riscv-board.toml"
ProfileBoot = Callable[..., Any]


@pytest.fixture(scope="module")
def profiled(profile_boot: ProfileBoot) -> Any:
    return profile_boot(EXAMPLE)


def spent(profiled: Any) -> dict[tuple[str, ...], int]:
    """Return the instructions of each stack, outermost first, with all that it called."""
    profile = profiled.profile
    totals = node_totals(profile)
    found: dict[tuple[str, ...], int] = {}
    for node in range(1, len(profile.nodes)):
        path = tuple(profile.path(node))
        found[path] = found.get(path, 0) + int(totals[node])
    return found


def test_the_account_closes(profiled: Any) -> None:
    account = profiled.document["account"]
    assert account["closed"] is True and account["faults"] == []
    assert account["named_kernel_share"] > 0.999
    assert profiled.profile.counts[-1]["mismatched_returns"] == 0


def test_each_stage_has_all_of_its_phase(profiled: Any) -> None:
    tops = {path[0]: count for path, count in spent(profiled).items() if len(path) == 1}
    instructions = {name: mark.instructions for name, mark in profiled.trace.marks.items()}
    assert tops["[SPL]"] == instructions[m.OPENSBI_ENTRY] - instructions[m.SPL_ENTRY]
    assert tops["[OpenSBI]"] == instructions[m.UBOOT_ENTRY] - instructions[m.OPENSBI_ENTRY]
    assert tops["[U-Boot]"] == instructions[m.IMAGE_ENTRY] - instructions[m.UBOOT_ENTRY]


def test_functions_have_their_names_before_uboot_moves_and_after(profiled: Any) -> None:
    stacks = spent(profiled)
    for stage, names in (
        ("[SPL]", ("board_init_r [SPL]", "spl_load_simple_fit [SPL]")),
        ("[U-Boot]", ("board_init_f [U-Boot]",)),
        ("[U-Boot]", ("board_init_r [U-Boot]", "run_main_loop [U-Boot]", "do_source [U-Boot]", "do_mem_cp [U-Boot]")),
    ):
        wanted = [path for path in stacks if path[0] == stage and path[-1] == names[-1] and set(names) <= set(path)]
        assert wanted and sum(stacks[path] for path in wanted) > 100_000, names
    # Debian's OpenSBI has no symbols: its functions go by address.
    assert any(path[0] == "[OpenSBI]" and path[-1].startswith("OpenSBI@0x801") for path in stacks)


def test_opensbi_is_beneath_the_kernel_where_that_asks_for_it(profiled: Any) -> None:
    asked = [path for path in spent(profiled) if path[-2:] == ("__sbi_ecall", "[OpenSBI]")]
    assert asked and all(path[0].startswith("swapper") or path[0] == "ret_from_fork" for path in asked)


def test_the_countdown_is_a_busy_wait_of_uboots(profiled: Any) -> None:
    first = profiled.document["activity"]["busy_waits"][0]
    assert (first["who"], first["kind"]) == ("[U-Boot]", "countdown")
    assert first["ns"] > 1_900_000_000
