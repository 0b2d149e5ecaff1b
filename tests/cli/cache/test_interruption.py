"""A removal that is cut short, before each of its steps, by each signal: what is left is whole or not there."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
_SCRIPT = """
import os, signal, sys, time
from pathlib import Path
import bootlab.cli.app
import bootlab.cli.cache.verb
from bootlab.build.cache import Cache
from bootlab.build.eviction.choice import Eviction, choose
from bootlab.build.eviction.removal import remove
from bootlab.build.eviction.survey import survey
from bootlab.cli import main

STEPS = ("os.rename", "os.remove", "os.rmdir")
number = signal.Signals[sys.argv[2]]
cache = Cache(Path(os.environ["BOOTLAB_CACHE"]))

def build(out):
    for name in ("modules/one.ko", "modules/two.ko", "vmlinux"):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(name)

def whole(place):
    return all((place / name).is_file() for name in ("modules/one.ko", "modules/two.ko", "vmlinux"))

def gc(step):
    child = os.fork()
    if child == 0:
        left = step
        def hook(event, arguments):
            nonlocal left
            if event in STEPS:
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), number)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.addaudithook(hook)
        sys.argv = ["bootlab", "cache", "gc", "--remove"]
        main()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

then = time.time() - 40 * 86400
for step in range(1, 100):
    places = {key: cache.make("kernel", key, build) for key in ("one", "other")}
    for place in places.values():
        os.utime(cache.note(place), (then, then))
    code = gc(step)
    found = [cache.find("kernel", key) for key in places]
    assert all(place is None or whole(place) for place in found), found
    for place in filter(None, found):
        os.utime(cache.note(place), (then, then))
    if code == 0:
        break
    assert code == int(sys.argv[3]), code
    found = survey(cache)
    remove(cache, choose(found.items, Eviction(30), found.disk_bytes, time.time_ns(), None).going)
    left = [path.name for folder in ("kernel", "contents") for path in (cache.root / folder).iterdir()]
    assert left == [], (step, left)
print(f"steps: {step - 1}", flush=True)
"""


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 130), ("SIGKILL", -signal.SIGKILL)])
def test_a_removal_that_is_cut_short_leaves_nothing_half_and_the_next_goes_on(
    name: str, code: int, tmp_path: Path
) -> None:
    words = [sys.executable, "-c", _SCRIPT, "cache", name, str(code)]
    environment = {**os.environ, "BOOTLAB_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    # Of each entry: its note put aside, itself put aside, its note and lengths deleted, three files, two folders.
    steps = int(done.stdout.splitlines()[-1].removeprefix("steps: "))
    assert steps == 2 * (2 + 2 + 3 + 2)
    told = done.stderr.count("bootlab: error: interrupted: ")
    assert told == (steps if code == 130 else 0)
    if code == 130:
        assert "interrupted: 0 of 2 entries were removed, and one more may be half removed" in done.stderr
        assert "interrupted: 1 of 2 entries were removed" in done.stderr
        assert "hint: the next bootlab cache gc --remove goes on" in done.stderr
    assert "Traceback" not in done.stderr
