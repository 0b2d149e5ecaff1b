"""A boot of a rented machine in the four lines of ec2-boot-bench, which `bootlab import` reads, too."""

from bootlab.measure.record import BootRecord
from bootlab.timeline import marks as m


def ec2_boot_bench_lines(record: BootRecord) -> list[str]:
    """Return the lines of a boot that was ready; none of any other.

    A port that was open as it first answered was never seen closed: between the two nothing passed.
    """
    marks = record.marks
    ends = (m.LAUNCHED, m.RUNNING, m.ADDRESS_UP, m.READY)
    if record.ready_ns is None or any(name not in marks for name in ends):
        return []
    words = ("RunInstances API call", "Moving from pending to running", "Moving from running to port closed",
             "Moving from port closed to port open")  # fmt: skip
    begins = (m.POWER_ON, *ends[:-1])
    return [
        f"{what} took: {(marks[end] - marks[begin]) / 1e9:.6f} s"
        for what, begin, end in zip(words, begins, ends, strict=True)
    ]
