"""The profile tells the truth on stock kernels: its account closes, it repeats, and the guest cannot tell.

That it shows known work where it was done, and known sleeps, is in ground_truth/.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bootlab.profile.recorded.reader import Profile
from bootlab.profile.recorded.record_types import Space
from bootlab.profile.tree.call_tree import build_call_tree
from tests.boot.conftest import VARIANTS, CheckUnnoticed, ProfileBoot, Profiled

pytestmark = [pytest.mark.boot, pytest.mark.network]

SIZE_MOST = 20_000_000


@pytest.fixture(
    scope="session",
    params=[
        pytest.param(name, marks=pytest.mark.promise("profile account")) if name == "arm64-6.1" else name
        for name in VARIANTS
    ],
)
def profiled(
    request: pytest.FixtureRequest, variant_file: Callable[[str], Path], profile_boot: ProfileBoot
) -> Profiled:
    """A profile of each kernel on each machine."""
    return profile_boot(variant_file(request.param))


def check_account(profiled: Profiled) -> None:
    profile, end = profiled.profile, profiled.trace.end
    assert end is not None and profile.complete
    assert (profile.end_ns, profile.end_instructions) == (end.t_ns, end.instructions)
    for piece in profile.slices:
        spent = int(piece.weights["instructions"].sum())
        assert spent == piece.end_instructions - piece.start_instructions, piece.name
    idle_ns = int((profile.idles["end_ns"] - profile.idles["start_ns"]).sum())
    assert idle_ns == profile.idle_ns == end.t_ns - (end.instructions << profile.shift)
    tree = build_call_tree(profile)
    assert int(tree.total_instructions[0]) == end.instructions
    assert sum(weight for _, weight in tree.folded("instructions")) == end.instructions
    pruned = tree.pruned(1_000_000)
    assert len(pruned) < len(tree)
    assert int(pruned.total_instructions[0]) == end.instructions

    account, ready = profiled.document["account"], profiled.trace.guest_marks["ready"]
    for balance, stamp in ((account, ready), (account["whole"], end)):
        assert balance["instructions"] == balance["attributed_instructions"] == stamp.instructions
        assert balance["virtual_ns"] == stamp.t_ns
        assert balance["idle_ns"] == stamp.t_ns - (stamp.instructions << profile.shift)


def test_account_is_closed_exactly(profiled: Profiled) -> None:
    """Every instruction QEMU counted is in the flame graph once, and every ns is an instruction or idle."""
    check_account(profiled)


def test_slices_end_at_the_marks(profiled: Profiled) -> None:
    """Each slice ends at a mark of the trace, at the very instruction."""
    trace = profiled.trace
    stamps = {**trace.marks, **trace.guest_marks}
    for piece in profiled.profile.slices:
        if piece.name in stamps:
            stamp = stamps[piece.name]
            assert (piece.end_ns, piece.end_instructions) == (stamp.t_ns, stamp.instructions), piece.name
    assert set(stamps) <= {piece.name for piece in profiled.profile.slices}


def shares(profile: Profile) -> tuple[float, float]:
    """Return the shares without a name: of all instructions, and of the kernel's own.

    Counted here from the weights alone, by the node's own function, without the code that makes the document.
    """
    weights = np.concatenate([piece.weights for piece in profile.slices])
    function = profile.nodes["function"][weights["node"]]
    space, spent = profile.spaces[function], weights["instructions"]
    names = np.array([profile.names[number] for number in function])
    unnamed_kernel = (space == Space.OTHER) & (names == "[kernel]")
    named_kernel = (space == Space.KERNEL) | (space == Space.MODULE)
    everything, unnamed = int(spent.sum()), int(spent[space == Space.OTHER].sum())
    kernel = int(spent[unnamed_kernel].sum()), int(spent[named_kernel].sum())
    assert everything and kernel[1]
    return unnamed / everything, kernel[0] / (kernel[0] + kernel[1])


def check_names(profiled: Profiled) -> None:
    unnamed, unnamed_kernel = shares(profiled.profile)
    account = profiled.document["account"]["whole"]
    print(f"unnamed {unnamed:.4%}, of the kernel {unnamed_kernel:.4%}, account {account}")
    assert unnamed < 0.005
    assert unnamed_kernel < 0.005
    assert account["attributed_instructions"] > 0.995 * account["instructions"]
    assert account["named_kernel_share"] > 0.995


def test_nearly_all_has_a_name(profiled: Profiled) -> None:
    check_names(profiled)


def check_returns(profiled: Profiled) -> None:
    counts = profiled.profile.counts[-1]
    print(f"{counts['mismatched_returns']} of {counts['returns']} returns")
    assert counts["returns"] > 1_000_000
    assert counts["mismatched_returns"] < 0.001 * counts["returns"]
    assert profiled.document["account"]["whole"]["mismatched_return_share"] < 0.001
    depth = profiled.profile.shape.depth
    assert int(depth.max()) < 200, "frames that are never left would pile up"


def test_stacks_match(profiled: Profiled) -> None:
    """Nearly every return goes to where its call came from."""
    check_returns(profiled)


def test_profile_is_small(profiled: Profiled) -> None:
    """What one profile leaves in its run, everything included."""
    run = profiled.directory.parents[1]
    sizes = {str(path.relative_to(run)): path.stat().st_size for path in run.rglob("*") if path.is_file()}
    print(sorted(sizes.items(), key=lambda item: -item[1])[:6])
    assert sum(sizes.values()) < SIZE_MOST


@pytest.mark.parametrize("name", ["q35-6.12", "arm64-6.1", "riscv64-6.12"])
def test_two_profiles_are_identical(name: str, variant_file: Callable[[str], Path], profile_boot: ProfileBoot) -> None:
    first = profile_boot(variant_file(name))
    second = profile_boot(variant_file(name), again=True)
    assert first.directory != second.directory
    for file in ("profile.bin.zst", "trace.txt", "console.log"):
        assert (first.directory / file).read_bytes() == (second.directory / file).read_bytes(), file


@pytest.mark.parametrize("name", ["microvm-6.1", "arm64-6.1", "riscv64-6.12"])
def test_a_guest_of_two_vcpus(
    name: str, variant_file: Callable[[str], Path], profile_boot: ProfileBoot, check_unnoticed: CheckUnnoticed
) -> None:
    """It cannot tell either, and its account closes too. For one vCPU, see test_ground_truth for the former."""
    profiled = profile_boot(variant_file(name), "--vcpus", "2")
    check_unnoticed(variant_file(name), profiled, vcpus=2)
    check_account(profiled)
    check_names(profiled)
    check_returns(profiled)
    # Who was pushed aside and by whom: the second vCPU has an idle task and a stack of its own.
    assert {"swapper/0", "swapper/1"} <= {task.name for task in profiled.profile.tasks}
    assert set(profiled.profile.switches["vcpu"]) == {0, 1}
