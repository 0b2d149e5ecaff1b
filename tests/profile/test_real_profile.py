"""A real boot's profile, made small (tests/data/profile): what bootlab reads in it, figure by figure."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from bootlab.profile.asked.profiling import function_names, read_functions
from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.reader import parse_profile
from bootlab.profile.tables.account import make_account
from bootlab.profile.tables.coverage import find_coverage
from bootlab.profile.tables.initcalls import InitcallTable, ProbeResult, find_initcalls
from bootlab.profile.tree.call_tree import build_call_tree
from bootlab.profile.waits.off_cpu import find_off_cpu

DATA = Path(__file__).resolve().parents[1] / "data/profile/debian-cloud-6.1"
READY_NS = 1_718_744_188


@pytest.fixture(scope="module")
def profile() -> Profile:
    names = function_names(read_functions(DATA / "functions.txt"))
    return parse_profile(gzip.decompress((DATA / "profile.bin.gz").read_bytes()), names, 0)


@pytest.fixture(scope="module")
def initcalls(profile: Profile) -> InitcallTable:
    names = {address: name for address, _, name in read_functions(DATA / "functions.txt")}
    levels = json.loads((DATA / "profile.json").read_text())["initcall_levels"]
    return find_initcalls(profile, names, {int(address, 16): level for address, level in levels.items()})


def test_the_account_closes(profile: Profile) -> None:
    account = make_account(profile)
    assert account.closed and profile.complete
    assert (account.ready.instructions, account.ready.idle_ns, account.ready.virtual_ns) == (READY_NS, 0, READY_NS)
    assert account.ready.outside_share is not None and account.ready.outside_share < 0.0001
    assert account.ready.named_kernel_share is not None and account.ready.named_kernel_share > 0.9999
    assert account.ready.mismatched_return_share is not None and account.ready.mismatched_return_share < 0.00001


def test_half_of_this_boot_are_self_tests_of_the_crypto_api(profile: Profile) -> None:
    tree = build_call_tree(profile)
    functions = {one.name: one for one in tree.top_functions()}
    assert functions["cryptomgr_test"].total_instructions == pytest.approx(0.51 * READY_NS, rel=0.01)
    assert functions["mpihelp_submul_1"].self_instructions > 0.25 * READY_NS
    stages = {
        tree.name(node): int(tree.total_instructions[node]) for node in tree.children(0) if tree.name(node)[0] == "["
    }
    assert stages == {"[firmware]": 16_333_181, "[decompressor]": 100_763_525}


def test_pid_1_lives_from_its_fork_to_ready(profile: Profile) -> None:
    tree = build_call_tree(profile)
    first = next(task for task in profile.tasks if task.pid == 1)
    lived = sum(
        int(tree.total_elapsed_ns[node]) for node in tree.children(0) if tree.name(node) in ("swapper/0-1", "init-1")
    )
    assert lived == READY_NS - first.started_ns


def test_every_switch_fits_the_one_before(profile: Profile) -> None:
    switches, rows = profile.switches, find_off_cpu(profile)
    assert (switches["previous"][1:] == switches["next"][:-1]).all()
    assert (rows["start_ns"] <= rows["woken_ns"]).all() and (rows["woken_ns"] <= rows["end_ns"]).all()
    # Nobody was on two CPUs, or off twice at once.
    for task in set(rows["task"].tolist()):
        own = rows[rows["task"] == task]
        assert (own["start_ns"][1:] >= own["end_ns"][:-1]).all()


def test_initcalls(initcalls: InitcallTable) -> None:
    levels = Counter(one.level for one in initcalls.initcalls)
    assert levels["console"] == 4 and levels[""] == 0
    assert sum(levels.values()) == len(initcalls.initcalls) == 575
    slowest = max(initcalls.initcalls, key=lambda one: one.duration_ns)
    assert (slowest.name, slowest.duration_ns, slowest.cpu_ns) == ("crypto_algapi_init", 741_568_184, 108_804)
    ordinary = [one for one in initcalls.initcalls if one.level != "console"]
    order = ["early", "pure", "core", "postcore", "arch", "subsys", "fs", "rootfs", "device", "late"]
    assert [one.level for one in ordinary] == sorted((one.level for one in ordinary), key=order.index)
    assert all(one.finished and one.cpu_ns <= one.duration_ns for one in initcalls.initcalls)


def test_probes(initcalls: InitcallTable) -> None:
    bound = {(one.device, one.driver): one.inside for one in initcalls.probes if one.result == ProbeResult.BOUND}
    assert bound["serial8250", "serial8250"] == "serial8250_init"
    assert all(bar.end_ns <= READY_NS for lane in initcalls.lanes for bar in lane.bars)


def test_coverage(profile: Profile) -> None:
    coverage = find_coverage(profile)
    assert "start_kernel" in coverage.before_initcalls and "crypto_algapi_init" in coverage.in_initcalls_only
    assert "start_kernel" not in coverage.in_initcalls_only and coverage.check == ()
