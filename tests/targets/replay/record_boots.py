"""Records the boots that tests replay: `python -m tests.targets.replay.record_boots`, into tests/data/replay.

One boot on the virtual clock and one on the wall clock, both ready, and one there that panics. What only tells of
this host is left out of their records.
"""

import json
import tempfile
from pathlib import Path

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.system import System, read_system

DATA = Path(__file__).parents[2] / "data" / "replay"
SMALL = Path(__file__).parent / "small.toml"
KEPT = ("console.log", "trace.txt", "plugin.conf")
OF_THIS_HOST = {"argv": [], "host": {}, "run": "", "started": "", "wall_s": 0.0}


def systems() -> dict[str, System]:
    """Return the recorded systems by the names of their boots, with the folder that these are in."""
    small = read_system(SMALL)
    on_wall = System.model_validate({**dict(small), "clock": {"kind": "wall", "accelerator": "tcg"}})
    return {
        "virtual/ready-s1": small,
        "wall/ready-s1": on_wall,
        "wall/panicked-s1": on_wall.with_cmdline("rdinit=/none"),
    }


def record(name: str, system: System) -> None:
    """Boot once, and keep what a replay needs."""
    kept = DATA / name
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder)
        print(name, boot(prepare(Workshop(Cache.default()), system), made).outcome)
        document = {**json.loads((made / "record.json").read_text()), **OF_THIS_HOST}
        (kept / "record.json").write_text(json.dumps(document) + "\n")
        for file in KEPT:
            if (made / file).is_file():
                (kept / file).write_bytes((made / file).read_bytes())


if __name__ == "__main__":
    for name, system in systems().items():
        record(name, system)
