"""A trial on real boots: a plan that keeps every step, loads by a storage model, what each step contributes at last."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.errors import BootFailed
from bootlab.experiments.engine import Engine
from bootlab.experiments.store import RunKind, Store
from bootlab.experiments.trial.plan import Plan
from bootlab.experiments.trial.procedure import Trial
from bootlab.experiments.trial.result import TryResult
from bootlab.experiments.trial.task import TrialTask
from bootlab.measure.prepare import prepare
from bootlab.system import System, read_system
from bootlab.techniques.model.catalogue import load_catalogue, require_techniques
from tests.boot.conftest import EXAMPLES

# A cache whose old entries are all there, and which takes 3 MiB more: the uncompressed archive is larger.
FULL = """
set -e
d=$(mktemp -d); mount -t tmpfs -o size=3m none $d; mkdir $d/new $d/work $d/cache
options=lowerdir=$BOOTLAB_CACHE,upperdir=$d/new,workdir=$d/work
mount -t overlay overlay -o "$options" $d/cache || { echo no overlay; exit; }
export BOOTLAB_CACHE=$d/cache
"$PYTHON" -m bootlab try "$SYSTEM" initramfs_none --seeds 3 --nulls 3 --runs "$RUNS" || echo exit=$?
ls $d/new/initramfs
"""

pytestmark = [pytest.mark.boot, pytest.mark.network]

LADDER = ("cmdline_cryptomgr_notests", "initramfs_none", "firmware_pvh")


@pytest.fixture
def system() -> System:
    """The arm64 example, which boots fastest, without what comes after ready, loaded from a slow card."""
    system = read_system(EXAMPLES / "debian-arm64.toml")
    values = {**dict(system), "check": None, "disks": (), "network": None, "storage": {"mb_s": 20, "latency_us": 500}}
    return System.model_validate(values)


def run_trial(system: System, cache: Cache, folder: Path, **options: bool) -> tuple[TryResult, list[str]]:
    plan = Plan("test", "", LADDER, by_gain=False, keep_all=True)
    notes: list[str] = []
    run = Store(folder).start(RunKind.TRY, system.name, {})
    task = TrialTask(require_techniques(load_catalogue(), LADDER), plan, seeds=[1, 2, 3], nulls=3, **options)
    trial = Trial(Workshop(cache, tell=notes.append), system, task, Engine(run, reuse=True))
    return trial.run(), notes


def test_a_ladder_keeps_every_step_and_says_what_each_contributes(system: System, cache: Cache, tmp_path: Path) -> None:
    result, notes = run_trial(system, cache, tmp_path, ablation=True)
    steps = {step.technique: step for step in result.stack}
    assert list(steps) == list(LADDER), "one row a step, in the order given"
    assert steps["firmware_pvh"].verdict == "does not apply", "arm64 has no PVH"
    kept = [name for name in LADDER if name != "firmware_pvh"]
    assert result.final["ladder"].techniques == kept
    # The archive unpacked costs more to load than it saves to unpack, and is kept all the same.
    larger = steps["initramfs_none"]
    assert larger.verdict == "longer"
    assert larger.sizes["initramfs"] > 2 * result.baseline.sizes["initramfs"]
    assert larger.load_ns > result.baseline.load_ns
    total_ns = result.baseline.total_ns - sum(steps[name].saved_ns or 0 for name in kept)
    assert abs(total_ns - result.final["ladder"].total_ns) < 5e6

    sides = (*result.alone, *result.stack, result.baseline)
    for row in sides:
        if row.ready_ns is not None:
            assert row.user_space_ns is not None and row.user_space_ns < row.ready_ns
            assert row.load_ns == system.storage.load_ns(  # type: ignore[union-attr]
                row.sizes[name] for name in ("kernel", "initramfs")
            )

    contributes = {row.technique: row for row in result.ablation}
    assert list(contributes) == kept
    assert contributes["cmdline_cryptomgr_notests"].verdict == "shorter"
    assert contributes["initramfs_none"].verdict == "longer"
    assert any(note.startswith("ablation of ladder: 2") for note in notes)

    climbed, _ = run_trial(system, cache, tmp_path, alone=False)
    assert (climbed.alone, climbed.ablation) == ([], [])
    steps_without = {step.technique: (step.verdict, step.ready_ns, step.saved_ns) for step in climbed.stack}
    assert steps_without == {name: (step.verdict, step.ready_ns, step.saved_ns) for name, step in steps.items()}

    cost = result.cost
    assert cost is not None and (cost.built, cost.build_s) == (0, 0)
    # The bar is half as much again as the boots take; what is not boots must stay small beside them.
    assert cost.elapsed_s < 1.5 * cost.qemu_s
    assert cost.elapsed_s - cost.booting_s < 0.5 * cost.qemu_s / cost.parallel


def test_a_check_that_fails_with_nothing_changed(cache: Cache, tmp_path: Path) -> None:
    system = read_system(EXAMPLES / "debian-arm64.toml")
    broken = system.with_part("check", console="bootlab: mark ready", expect="never said")
    with pytest.raises(BootFailed, match="already fails its check, with nothing changed.*never said"):
        run_trial(broken, cache, tmp_path)


def test_a_cache_that_fills_up_in_mid_trial_loses_nothing(cache: Cache, tmp_path: Path) -> None:
    system = tmp_path / "system.toml"
    text = (EXAMPLES / "debian-arm64.toml").read_text().replace('"cloud/', f'"{EXAMPLES}/cloud/')
    # Another initramfs than the warm cache holds; made before the disk is full, as one that is there already.
    system.write_text(text.replace('"raid1", ', ""))
    prepare(Workshop(cache), read_system(system))
    names = {"BOOTLAB_CACHE": str(cache.root), "PYTHON": sys.executable, "SYSTEM": str(system), "RUNS": str(tmp_path)}
    done = subprocess.run(
        ["unshare", "--mount", "--map-root-user", "sh", "-c", FULL],
        env={**os.environ, **names}, cwd=EXAMPLES.parent, capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    if "unshare" in done.stderr or "no overlay" in done.stdout:
        pytest.skip(f"no mount namespace or overlay here: {done.stderr.strip()}")
    assert "exit=1" in done.stdout, done.stderr
    assert "no space left while making initramfs" in done.stderr
    assert f"then go on with: bootlab try {system} --resume {tmp_path}/0001-debian-arm64-try" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout.split()[-1] == "exit=1", "no entry was left behind in the cache"
    assert len(list(tmp_path.glob("0001-*/boots/*/record.json"))) == 3, "the baseline's boots are kept"
