"""The tables of docs/scale.md on what a farm costs, a column for each farm: `tests.bench.simulated_farm` runs them.

    python -m tests.bench.farm_table 20:100 200:1000
    python -m tests.bench.farm_table 20:200 --boot-s 10

Seconds and CPU time are those of the host's own clock, and of what else it does: so the load stands below.
"""

import argparse
import platform
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from bootlab.report.parts.figures import count
from bootlab.report.parts.markdown import markdown_table, prose
from tests.bench.simulated_farm import run_farm

_Found = Mapping[str, Any]


def _a_boot_ms(seconds: str) -> Callable[[_Found], str]:
    return lambda found: f"{1000 * found[seconds] / found['boots']:.1f}"


def _memory(found: _Found) -> str:
    of = ("scheduler_rss_empty_bytes", "scheduler_rss_with_workers_bytes", "scheduler_rss_peak_bytes")
    return ", ".join(f"{found[one] / (1 << 20):.0f}" for one in of)


def _of_each_worker(found: _Found) -> str:
    fewest, most = found["fewest_boots_of_a_worker"], found["most_boots_of_a_worker"]
    return count(fewest) if fewest == most else f"{count(fewest)} to {count(most)}"


_CPU: Final[Mapping[str, Callable[[_Found], str]]] = {
    "CPU of the scheduler, ms a boot": _a_boot_ms("scheduler_cpu_s"),
    "CPU of the client, ms a boot": _a_boot_ms("client_cpu_s"),
}
_COST: Final[Mapping[str, Callable[[_Found], str]]] = {
    "boots that ended, each once": lambda found: count(found["ready"]),
    "boots a second": lambda found: f"{found['boots_a_second']:.1f}",
    "boots a second after the first of each worker": lambda found: (
        f"{found['boots_a_second_after_the_first_of_each_worker']:.1f}"
    ),
    **_CPU,
    "memory of the scheduler: empty, with workers, at most, MiB": _memory,
    "an order, bytes (uncompressed by TLS or TCP)": lambda found: count(found["order_bytes_a_boot"]),
    "an answer, bytes, compressed": lambda found: count(found["answer_bytes_a_boot"]),
    "kept of a boot in its run, bytes": lambda found: count(found["kept_bytes_a_boot"]),
}
_SHARE: Final[Mapping[str, Callable[[_Found], str]]] = {
    "share of N times one worker": lambda found: f"{found['share_of_n']:.3f}",
    "seconds": lambda found: f"{found['took_s']:.1f}",
    "seconds that would be all of it": lambda found: f"{found['boots'] * found['boot_s'] / found['workers']:.1f}",
    "boots of each worker": _of_each_worker,
    "workers told as lost": lambda found: count(found["lost_workers"]),
    **_CPU,
}


def farm_table(farms: Sequence[_Found]) -> str:
    """Return the table of what `run_farm` found of each, all with longer boots or none, and on what they ran.

    Raises ValueError for a farm with a boot that was not ready.
    """
    for one in farms:
        if one["ready"] != one["boots"]:
            raise ValueError(f"{one['boots'] - one['ready']} of {one['boots']} boots were not ready: {one['told']}")
    rows = [[name, *(said(one) for one in farms)] for name, said in (_SHARE if farms[0]["boot_s"] else _COST).items()]
    return f"{markdown_table(['', *(f'{_name(one)}>' for one in farms)], rows)}\n\n{_made_of(farms)}"


def _name(found: _Found) -> str:
    longer = f" of {found['boot_s']:g} s" if found["boot_s"] else ""
    return f"{count(found['boots'])} boots{longer} on {count(found['workers'])} workers"


def _made_of(farms: Sequence[_Found]) -> str:
    loads = ", ".join(f"{one['load_1_min_before']:.1f} and {one['load_1_min']:.1f}" for one in farms)
    each = "" if len(farms) == 1 else " of each"
    python = f"Python {platform.python_version()}, Dask {version('distributed')}"
    return prose(f"{farms[0]['cores']} CPUs; the host's load before and after the boots{each}: {loads}; {python}.")


def main() -> None:
    """Run the farms as asked on the command line, one after the other, and print their table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("farms", nargs="+", metavar="WORKERS:BOOTS", type=_workers_and_boots)
    parser.add_argument("--boot-s", type=float, default=0.0)
    asked = parser.parse_args()
    found = []
    for workers, boots in asked.farms:
        with tempfile.TemporaryDirectory(prefix="bootlab-farm-") as folder:
            found.append(run_farm(Path(folder), workers, boots, asked.boot_s))
    print(farm_table(found))


def _workers_and_boots(word: str) -> tuple[int, int]:
    workers, boots = word.split(":")
    return int(workers), int(boots)


if __name__ == "__main__":
    main()
