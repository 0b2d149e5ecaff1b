"""Keeps every frame with its time since power-on, in the form that Wireshark and tcpdump read."""

from decimal import Decimal
from pathlib import Path
from typing import Final

from dpkt import pcap

CAPTURE: Final = "network.pcap"
"""Its name in a boot's directory."""
_MOST_BYTES: Final = 64 << 20


class Capture:
    """A pcap file in ns that grows by a frame at a time, up to `most_bytes`; `left_out` counts frames beyond that."""

    def __init__(self, path: Path, most_bytes: int = _MOST_BYTES) -> None:
        self._file = path.open("wb")
        self._writer = pcap.Writer(self._file, nano=True)
        self._room = most_bytes
        self.left_out = 0

    def add(self, t_ns: int, frame: bytes) -> None:
        """Keep a frame, sent or given at `t_ns`."""
        self._room -= len(frame)
        if self._room < 0:
            self.left_out += 1
        else:
            self._writer.writepkt(frame, Decimal(t_ns) / 10**9)

    def close(self) -> None:
        self._file.close()
