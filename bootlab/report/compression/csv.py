"""A compression study as CSV: one line an algorithm and storage speed. The columns are documented in docs/sweeps.md."""

import csv
import io

from bootlab.experiments.compression.result import CompressionResult

COLUMNS = (
    "system", "what", "algorithm", "outcome", "size_bytes", "loaded_bytes", "unpack_ns", "boot_ns", "mb_s",
    "latency_us", "load_ns", "total_ns", "clock", "ns_per_instruction", "cpu",
)  # fmt: skip


def compression_csv(result: CompressionResult) -> str:
    """Return the table with its heading; an algorithm that could not be measured has one line without figures."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    clock = [result.clock, result.ns_per_instruction, result.cpu]
    for table in result.tables:
        for one in table.options:
            head = [result.system, table.what, one.name, one.outcome, one.size]
            if one.boot is None:
                writer.writerow([*head, *[None] * 7, *clock])
                continue
            unpack_ns = one.unpack.median if one.unpack is not None else None
            for speed, total_ns in zip(result.speeds_mb_s, table.totals_ns[one.name], strict=True):
                load_ns = total_ns - one.boot.median
                writer.writerow([*head, one.loaded, unpack_ns, one.boot.median, f"{speed:g}", f"{result.latency_us:g}",
                                 load_ns, total_ns, *clock])  # fmt: skip
    return text.getvalue()
