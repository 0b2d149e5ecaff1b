"""Who a clone is: what two machines restored from one snapshot must not have in common (guest/clone/identity.h).

    bootlab-clone 1
    number 3
    seed 5f...
    end

It follows from the snapshot and the clone's number alone, so that clone 3 is the same each time, and no other is; but
for the time that it is told on the wall clock, which is its host's.
"""

import hashlib
import time
from dataclasses import dataclass
from typing import Final

SIZE: Final = 1024
"""Bytes of the text, of every clone and of a machine that is none: the guest's list of files has sizes in it."""
FILE_NAME: Final = "opt/bootlab/clone"
"""What QEMU's fw_cfg calls it."""
MOST_CLONES: Final = 100_000

WOKEN_S: Final = 1_800_000_000
"""What time it is by the virtual clock a second before clone 1 wakes, 2027-01-15: after that of any cold boot."""


@dataclass(frozen=True, slots=True)
class CloneIdentity:
    """One clone of a snapshot. `snapshot`: the hash of what was kept; `number`: from 1; `system`: what it is called.

    `has_card`: it has a network card, whose address is to be its own. `woken_s`: what time it is a second before clone
    1 wakes, since 1970; each next one wakes a second later. None: what time it is here when it is told.
    """

    snapshot: str
    number: int
    system: str
    has_card: bool = False
    woken_s: int | None = WOKEN_S

    @property
    def text(self) -> bytes:
        """Return what the guest is told."""
        time_us = time.time_ns() // 1000 if self.woken_s is None else (self.woken_s + self.number) * 10**6
        return self._text(time_us)

    def _text(self, time_us: int) -> bytes:
        machine = self._drawn("machine-id")
        address = ":".join(("52", "54", *(f"{byte:02x}" for byte in bytes.fromhex(self._drawn("mac"))[:4])))
        lines = [
            "bootlab-clone 1",
            f"number {self.number}",
            f"seed {self._drawn('seed')}",
            f"time_us {time_us}",
            f"name {self.host_name}",
            f"machine-id {machine[:32]}",
            *([f"mac {address}"] if self.has_card else []),
            "end",
        ]
        return _padded(lines)

    @property
    def host_name(self) -> str:
        """Return its host name, of the letters that one may have."""
        letters = "".join(letter if letter.isalnum() else "-" for letter in self.system.lower())
        return f"{letters[:40].strip('-')}-{self.number}"

    @property
    def generation(self) -> str:
        """Return its generation for the vmgenid device, as a UUID."""
        return _as_uuid(self._drawn("generation"))

    @property
    def sha256(self) -> str:
        """Return the hash of all that it decides."""
        text = self._text(0) if self.woken_s is None else self.text
        return hashlib.sha256(text + self.generation.encode()).hexdigest()

    def _drawn(self, what: str) -> str:
        return hashlib.sha256(f"{self.snapshot} {self.number} {what}".encode()).hexdigest()


def no_clone() -> bytes:
    """Return what a guest is told that was not restored."""
    return _padded(["bootlab-clone 1", "end"])


def held(mark: str) -> bytes:
    """Return what a guest is told that is to wait at a mark until it stands still, and reads it anew as a clone."""
    return _padded(["bootlab-clone 1", f"held {mark}", "end"])


NO_GENERATION: Final = "00000000-0000-4000-8000-000000000001"
"""The generation of a machine that was not restored."""


def _as_uuid(digits: str) -> str:
    return "-".join((digits[:8], digits[8:12], f"4{digits[13:16]}", f"8{digits[17:20]}", digits[20:32]))


def _padded(lines: list[str]) -> bytes:
    text = "\n".join(lines).encode() + b"\n"
    return text.ljust(SIZE, b"\n")
