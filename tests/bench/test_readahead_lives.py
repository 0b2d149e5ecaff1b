"""A machine that learns by itself what to read ahead: one boot to learn, nine to try, and what it then does for good.

    pytest -s -n 0 -m bench tests/bench/test_readahead_lives.py

The disk of each boot holds what the boot before has written, as the modelled disk promised it (`keep_writes`).
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.findings.power_cuts import PowerCut, cut_power, requests_of
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import Check, ReadAhead, Rootfs, System, read_system

pytestmark = pytest.mark.bench

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/readahead.toml"
LIVES = 12
"""One that learns, three each of none, block and need, and two of what was chosen."""
_WANTS = "/etc/systemd/system/graphical.target.wants"
_LAST = """[Unit]
After=settled.service bootlab-readahead.service
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'while systemctl is-active --quiet bootlab-readahead; do sleep 0.1; done; sync; \
echo "bootlab: fact lives.order $(grep -a ^order /var/lib/bootlab-readahead/pack)"; sync; \
echo "bootlab: lives end"'
StandardOutput=tty
"""


@dataclass(frozen=True, slots=True)
class Life:
    """One boot of the machine, and the order that its pack has for the next."""

    order: str
    record: BootRecord


def _learning_system(model: str) -> System:
    system = read_system(EXAMPLE)
    assert system.rootfs is not None
    changed = system.with_part(
        "rootfs",
        model=model,
        keep_writes=True,
        readahead=ReadAhead(),
        texts={"/etc/systemd/system/last.service": _LAST},
        run=(*system.rootfs.run, f"mkdir -p {_WANTS}; ln -s ../last.service {_WANTS}/last.service"),
    )
    return changed.model_copy(update={"check": Check(console="bootlab: lives end", deadline_s=300.0)})


def _lives(shop: Workshop, model: str, folder: Path) -> list[Life]:
    system, image, lives, order = _learning_system(model), folder / "disk.img", [], "learn"
    for number in range(LIVES):
        directory = folder / f"life-{number}"
        directory.mkdir()
        prepared = prepare(shop, system)
        record = boot(prepared, directory, patience=4.0)
        assert record.outcome is Outcome.READY, (number, record.detail)
        if number == 0:
            shutil.copy(prepared.files.disks[0], image)
            root = Rootfs(path=image, model=model, keep_writes=True)  # type: ignore[arg-type]
            system = system.model_copy(update={"rootfs": root})
        cut_power(directory, requests_of(directory, "rootfs"), PowerCut(1 << 62, seed=1), image)
        lives.append(Life(order, record))
        found = re.search(r"order order (\w+)", (directory / "console.log").read_text(errors="replace"))
        assert found is not None, directory
        order = found[1]
        print(f"{model} {number:2} {lives[-1].order:6} {record.marks['ready'] / 1e6:9.2f} idle {record.idle_ns}")
    return lives


@pytest.mark.parametrize("model", ["hdd", "nvme"])
def test_a_machine_learns_tries_and_keeps_what_serves_it(model: str, tmp_path: Path) -> None:
    lives = _lives(Workshop(Cache.default()), model, tmp_path)
    assert [life.order for life in lives[:10]] == ["learn", *("none", "block", "need") * 3]
    chosen = lives[10].order
    assert lives[11].order == chosen
    ready = {
        order: [life.record.marks["ready"] for life in lives[1:10] if life.order == order]
        for order in ("none", "block", "need")
    }
    served = [order for order in ("block", "need") if max(ready[order]) < min(ready["none"])]
    assert chosen == (min(served, key=lambda order: median(ready[order])) if served else "none")
    if model == "hdd":
        assert chosen == "block"
