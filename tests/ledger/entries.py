"""Entries with figures of their own, for tests of what is made of them."""

from typing import Any

from bootlab.ledger.entry import LedgerEntry

MS = 1_000_000


def entry(commit: str, ready_ms: float, **other: Any) -> LedgerEntry:
    """Return the entry of a commit `aaaa...`: three seeds and three null changes within 0.02 ms."""
    ready_ns = int(ready_ms * MS)
    said: dict[str, Any] = {
        "system": "board",
        "commit": commit * (40 // len(commit)),
        "commit_time": f"2026-01-{ord(commit[0]) - ord('a') + 1:02d}T00:00:00+00:00",
        "measured": "2026-02-01T00:00:00+00:00",
        "origin": "try",
        "clock": "virtual",
        "accelerator": "tcg",
        "ns_per_instruction": 1,
        "cpu": "max",
        "inputs": {"kernel": commit * 4, "qemu": "q"},
        "seeds": [1, 2, 3],
        "seeds_ns": [ready_ns, ready_ns + 10_000, ready_ns - 10_000],
        "null_ns": [ready_ns + 5_000, ready_ns - 5_000, ready_ns + 1],
    }
    return LedgerEntry(**{**said, **other})
