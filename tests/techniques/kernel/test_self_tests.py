"""Benchmarks that the kernel runs on itself: what its log says of them."""

from collections.abc import Callable

from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Effect, Evidence
from bootlab.techniques.model.technique import Layer

KERNEL = {technique.name: technique for technique in load_catalogue() if technique.change.layer is Layer.KERNEL}


def test_the_timing_of_raid_6_is_seen_in_the_log(
    evidence: Callable[..., Evidence], silent_log: tuple[str, ...]
) -> None:
    timed = evidence(*silent_log, "raid6: avx2x4   gen() 31170 MB/s", "raid6: using algorithm avx2x4 gen() 31170 MB/s")
    quiet = evidence(*silent_log, "raid6: skipped pq benchmark and selected avx2x4")
    prove = KERNEL["kernel_raid6_benchmark_off"].proof.prove
    assert (prove(quiet, timed), prove(timed, timed)) == (Effect.PROVEN, Effect.NONE)
