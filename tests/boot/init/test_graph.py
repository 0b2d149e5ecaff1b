"""bootlab-init in a guest, on the virtual clock: 200 units in the time they must take, the goal first, the example."""

import random
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.programs import guest
from bootlab.importers.init_account import AccountEventKind, InitAccount, require_account
from bootlab.measure.record import BootRecord, Outcome
from bootlab.profile.recorded.trace import read_trace
from bootlab.system import System, read_system
from tests.boot.conftest import EXAMPLES

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

WORKER = Path(__file__).parent / "units" / "worker.c"
UNITS, LAYERS, BOUND = 200, 10, 24
GOAL = "unit-104"
# Of examples/microvm/kernel.config.
TICK_NS = 10_000_000


def made_up_graph() -> tuple[dict[str, list[str]], dict[str, tuple[int, int]]]:
    """Return what each unit needs, and its (sleep ms, work ms)."""
    dice = random.Random(7)
    names = [f"unit-{number:03}" for number in range(UNITS)]
    layers = [names[begin::LAYERS] for begin in range(LAYERS)]
    needs, costs = dict[str, list[str]](), dict[str, tuple[int, int]]()
    for depth, layer in enumerate(layers):
        for name in layer:
            above = [other for upper in layers[:depth] for other in upper]
            needs[name] = sorted(dice.sample(above, min(len(above), dice.randint(1, 3))))
            costs[name] = (dice.choice((20, 40, 80, 150, 300)), dice.randint(1, 6))
    # One chain through all layers, longer than any other: the critical path is known.
    for upper, lower in zip(layers, layers[1:], strict=False):
        needs[lower[0]] = sorted({*needs[lower[0]], upper[0]})
    costs |= {layer[0]: (900, 5) for layer in layers}
    return needs, costs


def longest(needs: Mapping[str, list[str]], cost: Mapping[str, int]) -> int:
    """Return the cost of the longest chain."""
    known: dict[str, int] = {}

    def reach(name: str) -> int:
        if name not in known:
            known[name] = cost[name] + max((reach(other) for other in needs[name]), default=0)
        return known[name]

    return max(map(reach, needs))


def write_root(folder: Path, goal: str | None) -> tuple[dict[str, list[str]], dict[str, tuple[int, int]]]:
    """Write the graph as units, and a last one that writes the account to the console."""
    needs, costs = made_up_graph()
    units = folder / "etc/bootlab/units"
    units.mkdir(parents=True)
    for name, others in needs.items():
        sleep_ms, work_ms = costs[name]
        lines = [f"exec /bin/worker work {sleep_ms} {work_ms}", "ready exit", f"needs {' '.join(others)}".rstrip()]
        (units / f"{name}.unit").write_text("\n".join(line for line in lines if line != "needs") + "\n")
    names = sorted(needs)
    rows = "".join(f"after {' '.join(names[at : at + 20])}\n" for at in range(0, len(names), 20))
    last = f"exec /sbin/bootlab-ctl account --console\nready exit\n{rows}"
    (units / "last.unit").write_text(last)
    # The end of the account has been written before the mark says that the boot is over.
    (units / "over.unit").write_text("exec /bin/worker exit 0\nready exit\nneeds last\nmark ready\n")
    conf = f"starting {BOUND}\nlsb no\n" + (f"goal {goal}\n" if goal else "")
    (folder / "etc/bootlab/init.conf").write_text(conf)
    return needs, costs


def read_services(root: Path) -> System:
    """Return the example's system, with another content."""
    system = read_system(EXAMPLES / "services.toml")
    recipe = system.initramfs
    assert recipe is not None
    recipe = recipe.model_copy(update={"directory": root, "files": {"/bin/worker": WORKER}})
    booted = system.booted.model_copy(update={"deadline_s": 300.0})
    return system.model_copy(update={"initramfs": recipe, "check": None, "network": None, "booted": booted})


def account_of(record: BootRecord) -> InitAccount:
    assert record.outcome is Outcome.READY, record.detail
    return require_account(Path(record.run, "console.log").read_text(errors="replace"))


def test_200_units_take_the_critical_path_and_the_work(
    tmp_path: Path, run_boot: Callable[[System], BootRecord]
) -> None:
    needs, costs = write_root(tmp_path / "root", None)
    account = account_of(run_boot(read_services(tmp_path / "root")))
    ready, eligible = account.first_ns(AccountEventKind.READY), account.first_ns(AccountEventKind.ELIGIBLE)
    spawned = account.first_ns(AccountEventKind.SPAWN)
    assert set(needs) <= set(ready) and account.lost == 0
    took_ns = max(ready[name] for name in needs) - account.begun_ns
    sleep_ns = longest(needs, {name: cost[0] * 1_000_000 for name, cost in costs.items()})
    work_ns = sum(cost[1] * 1_000_000 for cost in costs.values())
    print(f"{took_ns / 1e6:.1f} ms, critical path {sleep_ns / 1e6:.1f} ms, work {work_ns / 1e6:.1f} ms")
    assert took_ns <= 1.02 * (sleep_ns + work_ns)
    assert took_ns >= sleep_ns
    # The bound is reached, and respected.
    assert account.most_starting() == BOUND
    for name, others in needs.items():
        assert all(ready[other] <= eligible[name] <= spawned[name] for other in others)


def closure_of(goal: str, needs: Mapping[str, list[str]]) -> set[str]:
    """Return the goal and all that it needs, through others too."""
    closure, queue = set[str](), [goal]
    while queue:
        name = queue.pop()
        closure.add(name)
        queue += [other for other in needs[name] if other not in closure]
    return closure


def test_the_goal_comes_first(tmp_path: Path, run_boot: Callable[[System], BootRecord]) -> None:
    needs, _ = write_root(tmp_path / "root", GOAL)
    account = account_of(run_boot(read_services(tmp_path / "root")))
    closure = closure_of(GOAL, needs)
    # What the goal takes on this kernel when nothing else is there: sleeps end with a tick (no high resolution timers).
    write_root(tmp_path / "alone", GOAL)
    for name in set(needs) - closure:
        (tmp_path / f"alone/etc/bootlab/units/{name}.unit").unlink()
    alone = account_of(run_boot(read_services(tmp_path / "alone")))
    ready, spawned = account.first_ns(AccountEventKind.READY), account.first_ns(AccountEventKind.SPAWN)
    alone_ns = alone.first_ns(AccountEventKind.READY)[GOAL] - alone.begun_ns
    took_ns = ready[GOAL] - account.begun_ns
    print(f"goal after {took_ns / 1e6:.1f} ms, alone after {alone_ns / 1e6:.1f} ms, {len(closure)} units")
    assert account.goal_ns is not None
    # Who wakes while another unit works waits for the end of that one's tick, or of two.
    assert took_ns <= alone_ns + 2 * TICK_NS
    eligible = account.first_ns(AccountEventKind.ELIGIBLE)
    # What process 1 itself takes of that: it reads 200 files, and of each unit on the way, once it may start, its fork.
    read_ns = min(eligible[name] for name in closure) - account.begun_ns
    begun_ns = {
        name: max((ready[other] for other in needs[name]), default=account.begun_ns + read_ns) for name in closure
    }
    started_ns = sum(spawned[name] - begun_ns[name] for name in closure)
    print(f"read in {read_ns / 1e6:.2f} ms, {len(closure)} units started in {started_ns / 1e6:.2f} ms")
    assert read_ns <= 5_000_000
    assert started_ns <= 2_000_000
    # While a unit on the way to the goal could be started, none was started that is not.
    for name in set(needs) - closure:
        if spawned[name] < ready[GOAL]:
            waiting = [one for one in closure if eligible[one] < spawned[name] < spawned[one]]
            assert not waiting, (name, waiting)


def test_the_example_is_small_and_quick_to_its_application(
    run_boot: Callable[[System], BootRecord], cache: Cache
) -> None:
    system = read_system(EXAMPLES / "services.toml")
    record = run_boot(system)
    assert record.outcome is Outcome.READY, record.detail
    trace = read_trace(Path(record.run, "trace.txt"))
    took = trace.guest_marks["application"].instructions - trace.marks["first_user_instruction"].instructions
    print(f"first instruction of PID 1 to main of the application: {took:,} instructions")
    assert took < 1_000_000
    programs = guest.compile_runtime("x86_64", cache)
    assert programs[guest.INIT].stat().st_size < 200_000
