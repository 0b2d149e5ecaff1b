"""Series of boots in the form of hyperfine's `--export-json`, which its scripts and `bootlab import` read.

A time is from the start of the VMM's process to ready, in seconds; where no VMM was started, from power-on. A boot that
was not ready has no time. Of processor time nothing is known, so `user` and `system` are left out.
"""

from collections.abc import Mapping, Sequence
from statistics import mean, median, stdev
from typing import Any

from bootlab.measure.launch import whole_ns
from bootlab.measure.record import BootRecord


def hyperfine_document(series: Mapping[str, Sequence[BootRecord]]) -> dict[str, Any]:
    """Return the document; name of a series -> its boots. A series without a boot that was ready is left out."""
    results = [_result(name, records) for name, records in series.items()]
    return {"results": [one for one in results if one is not None]}


def _result(name: str, records: Sequence[BootRecord]) -> dict[str, Any] | None:
    taken = [record.ready_ns if record.vmm is None else whole_ns(record) for record in records]
    times = [ns / 1e9 for ns in taken if ns is not None]
    if not times:
        return None
    return {
        "command": f"bootlab boot {name}",
        "mean": mean(times),
        "stddev": stdev(times) if len(times) > 1 else None,
        "median": median(times),
        "min": min(times),
        "max": max(times),
        "times": times,
        "exit_codes": [0] * len(times),
    }
