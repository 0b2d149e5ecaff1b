"""Runs verbs of bootlab in an emulated machine with SVM whose disk is a tree of this host's programs."""

import json
import shutil
from pathlib import Path
from typing import Any

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import Outcome
from bootlab.system import System
from tests.boot.machines.nested_kvm.host_tree import FILES, HostTree

DISK_MIB, MEMORY_MIB = 768, 1536


def _show(since_ns: int, line: str) -> None:
    # A series takes minutes; -s shows how far it is.
    print(f"{since_ns / 1e9:.0f} s: {line[:160]}", flush=True)


def run_inside(tree: HostTree, verbs: dict[str, list[str]], folder: Path, deadline_s: float) -> dict[str, Any]:
    """Run `verbs`, by name, in a machine whose disk is `tree`, which is gone then; inside.py is its PID 1."""
    tree.at("/verbs.json").write_text(json.dumps(verbs))
    taps = ["tun"] if tree.at("/taps").exists() else []
    tree.to_disk(folder / "disk", DISK_MIB)
    shutil.rmtree(tree.root)
    machine = System.model_validate(
        {
            "name": "machine-with-svm",
            "machine": {"type": "q35", "cpu": "max", "memory_mib": MEMORY_MIB, "vcpus": 2},
            "clock": {"kind": "wall", "accelerator": "tcg"},
            "kernel": {
                "package": "linux-image-cloud-amd64",
                "suite": "bookworm",
                "entry": "pvh",
                "cmdline": "console=ttyS0 panic=-1 cryptomgr.notests loglevel=1",
            },
            "initramfs": {
                "init": FILES / "outer_init",
                "modules": ["virtio_pci", "virtio_blk", "ext4", "kvm_amd", *taps],
                "compression": "none",
            },
            "disks": [{"path": folder / "disk"}],
            "booted": {"mark": "ready", "deadline_s": 120},
            "check": {"console": "bootlab: check ok", "deadline_s": deadline_s},
        }
    )
    (folder / "boot").mkdir()
    record = boot(prepare(Workshop(Cache.default()), machine), folder / "boot", on_line=_show)
    (folder / "disk").unlink()
    console = (folder / "boot" / "console.log").read_text(errors="replace")
    assert record.outcome is Outcome.READY, f"{record.detail}\n{console[-3000:]}"
    return {name: json.loads(value) for name, value in record.facts.items()}
