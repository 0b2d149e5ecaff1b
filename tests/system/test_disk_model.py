"""Models of disks: their figures give back what was published, and tables of one's own are checked."""

from typing import Any

import pytest
from pydantic import ValidationError

from bootlab.system import DiskModel, System
from bootlab.system.disk_model import MODELS, SOURCES

KERNEL = {"kernel": {"image": "k"}, "booted": {"mark": "ready"}, "machine": {"type": "q35"}, "name": "x"}


def disk(model: Any, **more: Any) -> System:
    return System.model_validate({**KERNEL, "disks": [{"size_mib": 16, "model": model, **more}]})


def model(given: Any) -> DiskModel:
    return disk(given).modelled_disks["disk0"]


def test_every_model_has_its_sources() -> None:
    assert SOURCES.keys() == MODELS.keys() and all(model.name == name for name, model in MODELS.items())
    assert all(model.figures for model in MODELS.values())


@pytest.mark.parametrize(
    ("name", "reads", "writes"),
    [("ssd", 13_000, 36_000), ("nvme", 19_000, 60_000), ("emmc", 11_000, 13_000), ("sd", 1_500, 500)],
)
def test_one_request_at_a_time_has_the_published_rate(name: str, reads: int, writes: int) -> None:
    of = MODELS[name]
    for latency, bus, rate in ((of.read_ns, of.read_bytes_s, reads), (of.write_ns, of.write_bytes_s, writes)):
        each = of.command_ns + latency + 4096 * 10**9 // bus
        assert 10**9 / each == pytest.approx(rate, rel=1e-4)


def test_a_head_reads_on_as_fast_as_its_tracks_pass() -> None:
    hdd = MODELS["hdd"]
    rate = hdd.track_sectors * 512 * 10**9 / (hdd.turn_ns + hdd.track_seek_ns)
    assert rate == pytest.approx(178.7e6, rel=1e-3), "as its source says it"


def test_a_table_changes_a_model_or_is_one() -> None:
    assert model("hdd") == MODELS["hdd"]
    changed = model({"like": "volume", "iops": 6000})
    assert (changed.name, changed.iops, changed.read_ns) == ("volume, changed", 6000, 1_000_000)
    assert model({"like": "volume"}).name == "volume"
    own = model({"kind": "flash", "read_ns": 100_000})
    assert (own.name, own.figures) == ("own", {"read_ns": 100_000})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("floppy", "there is no such model: hdd, ssd, nvme, emmc, sd, volume"),
        ({"like": "floppy"}, "like names no model"),
        ({"like": ["hdd"]}, "like names no model"),
        ({"kind": "head"}, "turn_ns is missing"),
        ({"kind": "tape"}, "kind"),
        ({"read_ns": 1}, "kind"),
        ({"like": "hdd", "average_seek_ns": 1}, "average_seek_ns is less than track_seek_ns"),
        ({"like": "volume", "first_touch_ns": 1}, "first_touch_ns needs touch_bytes"),
        ({"like": "sd", "read_ns": -1}, "read_ns"),
        ({"like": "sd", "read_ns": 1 << 41}, "read_ns"),
        ({"like": "sd", "read_ns": 1.5}, "read_ns"),
        ({"like": "sd", "rpm": 7200}, "rpm"),
        (7, "is neither a model's name (hdd, ssd, nvme, emmc, sd, volume) nor a table of figures"),
        (["hdd"], "is neither a model's name"),
    ],
)
def test_what_is_no_model_is_said_by_its_key(given: Any, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        disk(given)
    assert message in str(caught.value) and "disks" in str(caught.value)


def test_a_model_is_of_a_virtio_disk_on_the_virtual_clock() -> None:
    with pytest.raises(ValidationError, match="on virtio"):
        disk("sd", attach="nvme")
    with pytest.raises(ValidationError, match="on virtio"):
        System.model_validate({**KERNEL, "rootfs": {"path": "r", "device": "pmem", "model": "sd"}})
    wall = {**KERNEL, "clock": {"kind": "wall"}}
    with pytest.raises(ValidationError, match="model of disk1: a disk is modelled on the virtual clock"):
        System.model_validate({**wall, "disks": [{"size_mib": 16}, {"size_mib": 16, "model": "sd"}]})
    with pytest.raises(ValidationError, match="model of rootfs: a disk is"):
        System.model_validate({**wall, "rootfs": {"path": "r", "model": "sd"}})


def test_the_disk_of_an_image_is_modelled_as_well() -> None:
    image = {name: part for name, part in KERNEL.items() if name != "kernel"}
    given = System.model_validate({**image, "image": {"path": "i", "model": "hdd"}})
    assert given.modelled_disks == {"image": MODELS["hdd"]}
    with pytest.raises(ValidationError, match="on virtio"):
        System.model_validate({**image, "image": {"path": "i", "model": "hdd", "attach": "nvme"}})


def test_writes_are_kept_of_disks_that_are_modelled() -> None:
    assert disk("sd", keep_writes=True).kept_disks == ("disk0",) and disk("sd").kept_disks == ()
    root = {"path": "r", "model": "sd", "keep_writes": True}
    assert System.model_validate({**KERNEL, "rootfs": root}).kept_disks == ("rootfs",)
    for part in ({"disks": [{"size_mib": 16, "keep_writes": True}]}, {"rootfs": {"path": "r", "keep_writes": True}}):
        with pytest.raises(ValidationError, match="keep_writes is of a disk with a model"):
            System.model_validate({**KERNEL, **part})


def test_a_document_holds_the_figures_and_is_as_it_was_without_a_model() -> None:
    system = disk({"like": "sd", "read_ns": 5})
    document = system.model_dump(mode="json")
    assert document["disks"][0]["model"]["read_ns"] == 5
    assert System.model_validate(document) == system
    assert "model" not in System.model_validate({**KERNEL, "disks": [{"size_mib": 16}]}).model_dump()["disks"][0]


@pytest.mark.parametrize(("depth", "ring"), [(0, 256), (1, 4), (4, 4), (5, 8), (32, 32), (33, 64), (5000, 1024)])
def test_the_ring_holds_what_the_device_takes(depth: int, ring: int) -> None:
    assert DiskModel(kind="flash", depth=depth).ring == ring
