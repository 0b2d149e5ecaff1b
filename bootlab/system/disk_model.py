"""What a disk takes: models by name, each figure published by somebody, and models of one's own.

    model = "hdd"                                  as it stands below
    model = { like = "volume", iops = 6000 }       the same with figures changed
    model = { kind = "flash", read_ns = 100000 }   nothing else takes time

A boot's document holds the figures themselves, so a model that is changed here changes no boot that was recorded.
What nobody publishes takes no time: how long a flash drive flushes, how long a disk thinks about a command.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, model_validator

from bootlab.system.part import Part

_MOST: Final = 1 << 40
"""What the plugin takes of a figure (plugin/config/disk_lines.c)."""
_RANDOM: Final = 4096
"""The size of the requests for which random rates are published."""
_NOT_FIGURES: Final = ("name", "kind")


def _figure() -> Any:
    return Field(default=0, ge=0, le=_MOST, exclude_if=lambda value: value == 0)


class DiskModel(Part):
    """What a virtio disk takes on the virtual clock. 0: no time, or without limit."""

    name: str = "own"
    kind: Literal["flash", "head"]
    """`flash`: commands with a latency in channels, and a bus. `head`: one head over turning platters, and a cache."""
    depth: int = _figure()
    """Commands that are in the device at once."""
    command_ns: int = _figure()
    """The part of a command that no other one shares."""
    read_ns: int = _figure()
    """A read's time in its channel."""
    write_ns: int = _figure()
    flush_ns: int = _figure()
    """A flush, when all in front of it is done."""
    read_bytes_s: int = _figure()
    """The bus, and of a head's drive the cable."""
    write_bytes_s: int = _figure()
    channels: int = _figure()
    """Commands that are worked on at once; 0: `depth`."""
    iops: int = _figure()
    """Ceiling of operations a second; no credit is saved up."""
    io_bytes: int = _figure()
    """A request counts once for each so many of its bytes against `iops`."""
    first_touch_ns: int = _figure()
    """More for the first read of a block: a volume that was made of a snapshot is loaded as it is read."""
    touch_bytes: int = _figure()
    """The size of such a block."""
    turn_ns: int = _figure()
    """One turn of the platters. From here on: of a head."""
    track_sectors: int = _figure()
    tracks: int = _figure()
    """Tracks of a surface."""
    heads: int = _figure()
    track_seek_ns: int = _figure()
    """To the next track."""
    average_seek_ns: int = _figure()
    """Between two random tracks."""
    cache_bytes: int = _figure()
    span_bytes: int = _figure()
    """The image's block groups are laid evenly on so much of the disk; 0: side by side from its beginning."""

    @model_validator(mode="after")
    def _whole(self) -> "DiskModel":
        if self.kind == "head":
            for name in ("turn_ns", "track_sectors", "tracks", "heads", "cache_bytes"):
                if not getattr(self, name):
                    raise ValueError(f'{name} is missing: a disk of kind "head" has it; like = "hdd" gives one')
        if self.average_seek_ns < self.track_seek_ns:
            raise ValueError("average_seek_ns is less than track_seek_ns")
        if self.first_touch_ns and (self.touch_bytes < 512 or self.touch_bytes % 512):
            raise ValueError("first_touch_ns needs touch_bytes, a multiple of 512: how much is loaded at once")
        return self

    @property
    def figures(self) -> dict[str, int]:
        """Return name and value of each figure that is not 0."""
        return {name: value for name, value in self if name not in _NOT_FIGURES and value}

    @property
    def ring(self) -> int:
        """Return how many requests the guest may have on their way: what the device takes, and at least four."""
        return 256 if not self.depth else min(1024, max(4, 1 << (self.depth - 1).bit_length()))


def _latency_ns(iops: int, bytes_s: int, command_ns: int = 0) -> int:
    # One request at a time: what is left of its time when the bus and the command's own part are taken off.
    return 10**9 // iops - _RANDOM * 10**9 // bytes_s - command_ns


def _flash(name: str, depth: int, rates: tuple[int, int], bus: tuple[int, int], most: int = 0) -> DiskModel:
    command_ns = 10**9 // most if most else 0
    return DiskModel(
        name=name,
        kind="flash",
        depth=depth,
        command_ns=command_ns,
        read_ns=_latency_ns(rates[0], bus[0], command_ns),
        write_ns=_latency_ns(rates[1], bus[1], command_ns),
        read_bytes_s=bus[0],
        write_bytes_s=bus[1],
    )


SOURCES: Final = {
    "hdd": (
        "3.5 inches, 7200 rpm. Seagate, Constellation ES.3 SAS Product Manual, Rev. C, 4.1: 1 TB has 3 heads, 320,800 "
        "tracks a surface of 1,668,096 bytes on average, 7200 rpm, an interface of 600 MB/s. HGST, Ultrastar 7K4000 "
        "specification, 4.4.1: average seek of a read 8.2 ms. Hitachi, Travelstar 7K320 OEM specification, 4.4.2.3: "
        "single track seek of a read 1.0 ms. Seagate, BarraCuda ST1000DM010: 64 MB of cache. Serial ATA: 32 commands. "
        "So it reads on at 178.7 MB/s; the first manual says 83 to 175"
    ),
    "ssd": (
        "SATA. Samsung 870 EVO, as quoted by KitGuru (Samsung SSD 870 EVO 1TB Review): one request at a time 13,000 "
        "reads and 36,000 writes of 4 KiB a second, 98,000 reads with 32; 560 and 530 MB/s. Serial ATA: 32 commands"
    ),
    "nvme": (
        "PCI Express 3.0 x4. Samsung 970 EVO Plus 1TB, as quoted by Digit (Samsung 970 EVO Plus NVMe M.2 SSD review): "
        "one request at a time 19,000 reads and 60,000 writes of 4 KiB a second, 600,000 reads with 32; "
        "3500 and 3300 MB/s"
    ),
    "emmc": (
        "eMMC 5.1. Samsung, announcement of February 2015 (CDRinfo, Samsung Develops First eMMC 5.1 Flash Memory): "
        "11,000 reads and 13,000 writes a second, 250 and 125 MB/s. One command at a time"
    ),
    "sd": (
        "An SD card of class A1 in a High Speed slot. SD Association, Application Performance Class: at least 1,500 "
        "reads and 500 writes of 4 KiB a second, 10 MB/s written; Bus Speed: High Speed 25 MB/s. One command at a time"
    ),
    "volume": (
        "A cloud's volume. AWS, Amazon EBS volume types: gp3 has 3,000 IOPS, 125 MiB/s, and counts 256 KiB as an "
        "operation at most; latency in single-digit milliseconds, of which this takes the least, 1 ms. How long a "
        "block takes that is still in the snapshot is not published: first_touch_ns and touch_bytes are for who has "
        "measured it"
    ),
}
"""Model -> where each of its figures is published."""

MODELS: Final = {
    model.name: model
    for model in (
        DiskModel(
            name="hdd",
            kind="head",
            depth=32,
            read_bytes_s=600 * 10**6,
            write_bytes_s=600 * 10**6,
            turn_ns=60 * 10**9 // 7200,
            track_sectors=1_668_096 // 512,
            tracks=320_800,
            heads=3,
            track_seek_ns=1_000_000,
            average_seek_ns=8_200_000,
            cache_bytes=64 * 10**6,
        ),
        _flash("ssd", 32, (13_000, 36_000), (560 * 10**6, 530 * 10**6), most=98_000),
        _flash("nvme", 0, (19_000, 60_000), (3500 * 10**6, 3300 * 10**6), most=600_000),
        _flash("emmc", 1, (11_000, 13_000), (250 * 10**6, 125 * 10**6)),
        _flash("sd", 1, (1_500, 500), (25 * 10**6, 10 * 10**6)),
        DiskModel(
            name="volume",
            kind="flash",
            read_ns=1_000_000,
            write_ns=1_000_000,
            read_bytes_s=125 << 20,
            write_bytes_s=125 << 20,
            iops=3000,
            io_bytes=256 << 10,
        ),
    )
}
"""Model by its name."""


def _resolve(given: Any) -> Any:
    names = ", ".join(MODELS)
    if isinstance(given, str):
        if given not in MODELS:
            raise ValueError(f"there is no such model: {names}, or a table with figures of its own")
        return MODELS[given]
    if not isinstance(given, dict | DiskModel):
        raise ValueError(f"is neither a model's name ({names}) nor a table of figures")
    if isinstance(given, DiskModel) or "like" not in given:
        return given
    like = given["like"]
    if not isinstance(like, str) or like not in MODELS:
        raise ValueError(f"like names no model: {names}")
    changes = {name: value for name, value in given.items() if name != "like"}
    return {**dict(MODELS[like]), "name": f"{like}, changed" if changes else like, **changes}


AnyDiskModel = Annotated[DiskModel, BeforeValidator(_resolve)]
"""A model by its name, or a table of figures, with `like` those of another one."""
