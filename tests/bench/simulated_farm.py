"""What a farm costs, without its machines: a real scheduler, hundreds of workers, and boots on record that answer.

    python -m tests.bench.simulated_farm --workers 200 --boots 1000
    python -m tests.bench.simulated_farm --workers 20 --boots 400 --boot-s 10

With --boot-s each boot takes so many seconds more, in which it needs no processor: so this host stands for workers that
each have their own, and `share_of_n` is how near N workers come to N times the boots of one.

Scheduler, client and every worker are Dask's and bootlab's own; only the machines are replayed. Some fifty workers
share a process. Prints one JSON document; `tests.bench.farm_table` the tables of docs/scale.md.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import psutil
from distributed import Worker

from bootlab.build.cache import Cache
from bootlab.cluster import worker
from bootlab.cluster.address import RunningScheduler
from bootlab.cluster.place import open_cluster
from bootlab.cluster.roster import SUMMARY
from bootlab.experiments.engine import Engine, Job, Progress
from tests.replayed import Booted, new_run, prepared, replayed

_A_PROCESS = 50


def main() -> None:
    """Run the farm as asked on the command line; or, with --address, be some of its workers."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--workers", type=int, default=200)
    parser.add_argument("--boots", type=int, default=1000)
    parser.add_argument("--boot-s", type=float, default=0.0)
    parser.add_argument("--address", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.address is not None:
        if asked.boot_s:
            _take_longer(asked.boot_s)
        asyncio.run(_be_workers(asked.address, asked.folder, asked.workers))
    else:
        with tempfile.TemporaryDirectory(prefix="bootlab-farm-") as folder:
            print(json.dumps(run_farm(Path(folder), asked.workers, asked.boots, asked.boot_s), indent=1))


def _take_longer(seconds: float) -> None:
    plain = vars(worker)["boot"]

    def boot(*words: Any, **more: Any) -> Any:
        time.sleep(seconds)
        return plain(*words, **more)

    vars(worker)["boot"] = boot


async def _be_workers(address: str, folder: Path, number: int) -> None:
    there = [
        Worker(address, nthreads=1, memory_limit=0, local_directory=str(folder / str(one)), dashboard=False)
        for one in range(number)
    ]
    await asyncio.gather(*there)
    await asyncio.gather(*(one.finished() for one in there))


def run_farm(folder: Path, workers: int, boots: int, boot_s: float = 0.0) -> dict[str, Any]:
    """Return what so many boots on so many workers took, each `boot_s` longer than it is."""
    children = [_child("dask", "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
                       "--scheduler-file", str(folder / "scheduler.json"))]  # fmt: skip
    try:
        address = _address(folder / "scheduler.json")
        scheduler = psutil.Process(children[0].pid)
        empty_rss = scheduler.memory_info().rss
        for first in range(0, workers, _A_PROCESS):
            place = folder / f"workers-{first}"
            place.mkdir()
            some = min(_A_PROCESS, workers - first)
            children.append(_child("tests.bench.simulated_farm", "--address", address, "--folder", str(place),
                                   "--workers", str(some), "--boot-s", str(boot_s)))  # fmt: skip
        load_before = os.getloadavg()[0]
        found = _boot_all(folder, address, scheduler, workers, boots)
        summary = json.loads(next(folder.rglob(SUMMARY)).read_text())
        took = [one["boots"] for one in summary["workers"]]
        # All of it, the start of each worker as well: a rate between two ends would count a round too many.
        share = round(boots * boot_s / workers / found["took_s"], 3) if boot_s else None
        return found | {
            "scheduler_rss_empty_bytes": empty_rss,
            "boot_s": boot_s,
            "share_of_n": share,
            "fewest_boots_of_a_worker": min(took),
            "most_boots_of_a_worker": max(took),
            "lost_workers": summary["lost_workers"],
            "load_1_min_before": load_before,
        }
    finally:
        for child in children:
            child.kill()
            child.wait()


def _boot_all(folder: Path, address: str, scheduler: psutil.Process, workers: int, boots: int) -> dict[str, Any]:
    told: list[str] = []
    with open_cluster(RunningScheduler(address), Cache(folder / "cache"), parallel=None, tell=told.append) as place:
        until = time.monotonic() + 300
        while place.parallel < workers and time.monotonic() < until:
            place.look_again()
            time.sleep(0.5)
        system = prepared(replayed(folder))
        jobs = [Job(f"one-s{seed}", system.with_seed(seed)) for seed in range(1, boots + 1)]
        run, booted = new_run(folder), Booted()
        ends: list[float] = []

        def ended(progress: Progress) -> None:
            booted(progress)
            ends.append(time.monotonic())

        peak, stop = [0], threading.Event()
        watching = threading.Thread(target=_watch, args=(scheduler, peak, stop))
        watching.start()
        before, idle_rss, own = _cpu_s(scheduler), scheduler.memory_info().rss, time.process_time()
        begun = time.monotonic()
        records = Engine(run, place=place, watcher=ended).boot_all(jobs)
        took_s = time.monotonic() - begun
        stop.set()
        watching.join()
        assert sorted(booted.labels) == sorted(job.label for job in jobs)
        # The first boot of a worker makes it import bootlab and look at its inputs.
        steady = [end for end in ends if end > ends[min(len(ends) - 1, workers)]]
        return {
            "workers": workers,
            "slots": place.parallel,
            "boots": len(records),
            "ready": sum(record.ready_ns is not None for record in records),
            "took_s": round(took_s, 1),
            "boots_a_second": round(len(records) / took_s, 1),
            "boots_a_second_after_the_first_of_each_worker": round((len(steady) - 1) / (steady[-1] - steady[0]), 3)
            if len(steady) > 1
            else None,
            "scheduler_rss_with_workers_bytes": idle_rss,
            "scheduler_rss_peak_bytes": peak[0],
            "scheduler_cpu_s": round(_cpu_s(scheduler) - before, 2),
            "client_cpu_s": round(time.process_time() - own, 2),
            "answer_bytes_a_boot": place.answer_bytes // len(records),
            "order_bytes_a_boot": place.order_bytes // len(records),
            "input_bytes_sent": place.sent_bytes,
            "kept_bytes_a_boot": sum(one.stat().st_size for one in run.path.rglob("*") if one.is_file())
            // len(records),
            "cores": len(os.sched_getaffinity(0)),
            "load_1_min": os.getloadavg()[0],
            "told": told,
        }


def _watch(scheduler: psutil.Process, peak: list[int], stop: threading.Event) -> None:
    while not stop.wait(0.1):
        peak[0] = max(peak[0], scheduler.memory_info().rss)


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _child(module: str, *words: str) -> "subprocess.Popen[bytes]":
    # Whatever ends this ends its workers, too.
    return subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "--", sys.executable, "-m", module, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _address(file: Path) -> str:
    until = time.monotonic() + 90
    while time.monotonic() < until:
        if file.is_file() and (text := file.read_text()).strip():
            return str(json.loads(text)["address"])
        time.sleep(0.1)
    raise TimeoutError("the scheduler did not start within 90 s")


if __name__ == "__main__":
    main()
