"""Boots told by what their consoles said, and when: of a first life that makes host keys, and of a later one."""

from pathlib import Path

from bootlab.measure.record import BootRecord, Outcome
from tests.cli.recorded_runs import boots

MS = 1_000_000


def said_boot(folder: Path, seed: int, ready_ms: int, *said: tuple[int, str]) -> BootRecord:
    """Return a boot that leaves a console and a trace; `said`: lines and their ms."""
    folder.mkdir()
    (folder / "console.log").write_text("".join(f"{text}\n" for _, text in said))
    records = "".join(f"console {at * MS} {at * MS} {len(text) + 1}\n" for at, text in said)
    (folder / "trace.txt").write_text(f"bootlab-trace 1\nclock virtual 0\n{records}")
    record = boots("series-before.json")[0]
    marks = {**record.marks, "ready": ready_ms * MS}
    return record.model_copy(
        update={"marks": marks, "seed": seed, "run": str(folder), "outcome": Outcome.READY, "instructions": seed}
    )


def first_life(folder: Path, seed: int, key_ms: int) -> BootRecord:
    said = [(100, "kernel"), (110, "machine ID made"), (120, "network"), (120 + key_ms, "Generating rsa host keys")]
    return said_boot(folder, seed, 500 + key_ms, *said, (130 + key_ms, "sshd up"))


def later_life(folder: Path, seed: int) -> BootRecord:
    return said_boot(folder, seed, 480, (100, "kernel"), (115, "network"), (125, "sshd up"))
