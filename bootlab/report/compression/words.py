"""What a compression study says in words, on the terminal and on the page alike."""

from bootlab.experiments.compression.result import CompressionResult, Option, Range
from bootlab.report.parts.figures import clock_sentence

UNPACK = {
    "kernel": "Unpacking is the phase of the kernel's own decompressor.",
    "initramfs": "Unpacking is the time to user space beyond that with no compression.",
}
CAUTION = (
    "Each instruction takes the same time on the virtual clock: nothing misses a cache or waits for memory. A "
    "processor that takes twice as long for all of them has every crossing at half the speed (clock.shift sets it)."
)


def speed(mb_s: float) -> str:
    """Return a storage speed, as in `12.5 MB/s` or `1 GB/s`."""
    return f"{mb_s / 1000:.3g} GB/s" if mb_s >= 1000 else f"{mb_s:.3g} MB/s"


def range_words(one: Range) -> str:
    """Return where a choice is best, as in `from 2 MB/s to 40 MB/s`, with what the seeds say of the upper end."""
    if one.to_mb_s is None:
        return "at any speed" if one.from_mb_s == 0 else f"above {speed(one.from_mb_s)}"
    words = f"up to {speed(one.to_mb_s)}"
    if one.from_mb_s:
        words = f"from {speed(one.from_mb_s)} to {speed(one.to_mb_s)}"
    if one.low_mb_s is not None and one.high_mb_s is not None:
        low, high = speed(one.low_mb_s), speed(one.high_mb_s)
        words += f" (by seed {low} to {high})" if low != high else ""
    return words


def best_at(totals: dict[str, list[int]], index: int) -> str:
    """Return which option is best at one of the speeds."""
    return min(totals, key=lambda name: totals[name][index])


def why(option: Option) -> str:
    """Return why there are no figures for a compression: what became of its boot."""
    return f"{option.outcome}: {option.detail}" if option.detail else option.outcome


def clock(result: CompressionResult) -> str:
    """Return the sentence that says which clock the study's figures are on."""
    return clock_sentence(
        result.clock, result.ns_per_instruction, result.cpu, result.seeds, result.accelerator
    )  # fmt: skip
