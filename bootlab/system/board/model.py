"""A model of the time that a board's storage, serial line and camera take: the emulated ones take none."""

import hashlib
import json
from typing import Literal

from pydantic import Field

from bootlab.system.part import Part

_VERSION = 1
"""Version of the drivers in patches/, which give these figures their meaning."""


class BoardModel(Part):
    """What a board's card or flash chip, serial line and camera take, on the boot's own clock; 0 is no time at all.

    The drivers wait where those of a real board would, so other work goes on meanwhile where it would there.
    """

    storage_mib_s: float = Field(default=0, ge=0, le=10_000)
    """Rate of the card or flash chip, 2^20 bytes a second."""
    storage_latency_us: int = Field(default=0, ge=0, le=1_000_000)
    """Time from a request to its first byte."""
    uart_baud: int = Field(default=0, ge=0, le=4_000_000)
    """Rate of the serial line; a character takes ten bits."""
    camera_ms: int = Field(default=0, ge=0, le=60_000)
    """Time from power at the camera's port until the camera is there."""
    camera_power: Literal["kernel", "spl"] = "kernel"
    """Who switches that power on: the camera's driver when it starts, or the bootloader's first stage."""

    @property
    def storage_kib_s(self) -> int:
        """Return the storage's rate as the drivers take it."""
        return round(self.storage_mib_s * 1024)

    @property
    def identity(self) -> str:
        """Return a hash of the model, by which figures can be told to be of one. Who powers the camera is no part."""
        figures = self.model_dump(mode="json", exclude={"camera_power"})
        return hashlib.sha256(json.dumps([_VERSION, figures], sort_keys=True).encode()).hexdigest()[:12]

    @property
    def words(self) -> str:
        """Return the model for a reader, as in `storage 14.9 MiB/s, UART 115200 baud`."""
        latency = f" + {self.storage_latency_us} us a request" if self.storage_latency_us else ""
        parts = [
            f"storage {self.storage_mib_s:g} MiB/s{latency}" if self.storage_mib_s else "",
            f"UART {self.uart_baud} baud" if self.uart_baud else "",
            f"camera {self.camera_ms} ms from power" if self.camera_ms else "",
        ]
        return ", ".join(part for part in parts if part) or "no time for storage, UART and camera"

    @property
    def label(self) -> str:
        """Return hash and words: figures of two boots may be compared where it is the same."""
        return f"{self.identity} ({self.words})"
