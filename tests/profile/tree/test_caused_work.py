"""What others did because of a function: work that it gave to a thread, and what it slept for."""

from typing import Any

import numpy as np
import pytest

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.reader import parse_profile
from bootlab.profile.recorded.record_types import EventKind, SwitchFlag
from bootlab.profile.tree.caused_work import CausedWork
from bootlab.profile.waits.sleeps import WaitTable
from tests.profile.conftest import ProfileWriter

KERNEL = ("start_kernel", "schedule", "load_certs", "kthread", "worker_thread", "rescuer_thread", "wait_for_completion")
WORKER = "kworker-9;kthread;worker_thread"


def below(profile: Profile, function: str) -> Any:
    nodes = np.array([function in profile.path(node) for node in range(len(profile.nodes))])
    return nodes


@pytest.fixture
def boot() -> Profile:
    """load_certs() wakes a worker, makes a thread and waits for it; the worker had work of another before."""
    writer = ProfileWriter(KERNEL)
    init = writer.task("init", 1)
    kthreadd = writer.task("kthreadd", 2)
    worker = writer.task("kworker", 9, kthreadd)
    loading = "init-1;start_kernel;load_certs"
    writer.spend(WORKER, 10)
    writer.switch(worker, init, f"{WORKER};schedule")
    # Work that another gave: none of ours.
    writer.spend("init-1;start_kernel", 50)
    writer.wake(worker, init, "init-1;start_kernel")
    writer.switch(init, worker, "init-1;start_kernel", 0)
    writer.spend(f"{WORKER};other_work", 300)
    writer.switch(worker, init, f"{WORKER};schedule")
    writer.spend(loading, 20)
    writer.wake(worker, init, loading)
    test = writer.task("cryptomgr_test", 70, kthreadd)
    writer.event(EventKind.FORK, init, loading, a=test)
    writer.spend(loading, 5)
    writer.switch(init, test, f"{loading};wait_for_completion;schedule")
    writer.spend("cryptomgr_test-70;kthread;alg_test", 4000)
    writer.wake(init, test, "cryptomgr_test-70;kthread")
    writer.switch(test, worker, "cryptomgr_test-70;kthread", SwitchFlag.DEAD | SwitchFlag.SLEEPS)
    writer.spend(f"{WORKER};our_work", 700)
    writer.switch(worker, init, f"{WORKER};schedule")
    writer.spend(loading, 1)
    return parse_profile(writer.end(), writer.functions, 0)


def test_given_work_and_awaited_work_count_once(boot: Profile) -> None:
    caused = CausedWork(WaitTable(boot))
    assert caused.beyond(below(boot, "load_certs"), boot.end_ns) == 4000 + 700
    assert caused.beyond(below(boot, "load_certs"), 450) == 450 - 385, "nothing of what came later"


def test_what_others_gave_is_not_counted(boot: Profile) -> None:
    caused = CausedWork(WaitTable(boot))
    pieces = caused.pieces(below(boot, "load_certs"), boot.end_ns)
    assert not any(start <= 100 < end for _, start, end in pieces)
    assert caused.beyond(below(boot, "alg_test"), boot.end_ns) == 0
    assert caused.beyond(np.zeros(len(boot.nodes), dtype=np.bool_), boot.end_ns) == 0
