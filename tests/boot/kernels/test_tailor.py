"""A tiny kernel fitted to one job and to another: what each needs stays, and a run that was killed goes on.

Each kernel is an incremental build of the tiny one's objects.
"""

import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bootlab.build.source.config_text import named_options, parse_config
from bootlab.cli.app import run
from bootlab.errors import InputError
from bootlab.system import read_system
from bootlab.system.text import system_text

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

TINY = Path(__file__).parents[1] / "tiny_kernel"
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /{job}
/bin/busybox mount -t {job}{fs} none /{job}
/sbin/bootlab-mark ready
[ -e /{job}/{file} ] && echo "job: done"
/bin/busybox poweroff -f
"""
JOBS = {
    "proc": INIT.format(job="proc", fs="", file="uptime"),
    "sys": INIT.format(job="sys", fs="fs", file="kernel"),
}
FLAKY = JOBS["proc"].replace("&& echo", "&& ! /bin/busybox grep -q bootlab.null=2 /proc/cmdline && echo")


def system(folder: Path, init: str, kernel: str | None = None) -> Path:
    """Write a system whose init is a script; `kernel`: a finished configuration instead of the tiny one."""
    folder.mkdir()
    (folder / "init").write_text(init)
    text = (TINY / "tiny.toml").read_text() + '\n[check]\nconsole = "job: done"\n'
    text = text.replace('"tiny.config"', f'"{TINY}/tiny.config"')
    if kernel is not None:
        text = re.sub(r"base = .*\nfragments = .*\n", f'config = "{kernel}"\n', text)
    (folder / "tiny.toml").write_text(text)
    return folder / "tiny.toml"


def tailor(system: Path, runs: Path, *words: str) -> list[str]:
    """Return the command line."""
    return [sys.executable, "-m", "bootlab", "tailor", str(system), "--runs", str(runs), *words]


def on(result: dict[str, Any]) -> set[str]:
    return set(re.findall(r"^CONFIG_(\w+)=y$", Path(result["config"]).read_text(), re.MULTILINE))


@pytest.fixture(scope="module")
def killed_and_resumed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A tailoring for /proc that was killed when its first cut had been built, and resumed."""
    folder = tmp_path_factory.mktemp("proc")
    path, runs = system(folder / "system", JOBS["proc"]), folder / "runs"
    child = subprocess.Popen(
        tailor(path, runs, "--builds", "2"), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    assert child.stderr is not None
    said = []
    for line in child.stderr:
        said.append(line)
        if "cut 1: booting with the profile on" in line:
            child.send_signal(signal.SIGKILL)
            break
    assert child.wait() == -signal.SIGKILL, "".join(said)
    made = [*runs.glob("*/boots/*/record.json"), *runs.glob("*/searches/*.json")]
    boots = {path: path.stat().st_mtime_ns for path in made}
    done = subprocess.run(tailor(path, runs, "--resume", "last"), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(next(runs.glob("*/result.json")).read_text())
    return {"result": result, "boots": boots, "said": done.stderr, "runs": runs, "shown": done.stdout}


@pytest.mark.promise("bootlab tailor")
def test_a_killed_run_goes_on_and_repeats_nothing(killed_and_resumed: dict[str, Any]) -> None:
    steps = {step["label"]: step for step in killed_and_resumed["result"]["steps"]}
    assert steps["as it is"]["from_cache"] and steps["cut 1"]["from_cache"]
    said = killed_and_resumed["said"]
    assert "cut 1: building" not in said and "as it is: building" not in said and "as it is: booting" not in said
    boots = killed_and_resumed["boots"]
    assert len(boots) == 3 + 3 + 1 + 1, "three seeds, three null changes, one profiled; one search"
    assert all(path.stat().st_mtime_ns == then for path, then in boots.items())


def test_its_fragment_makes_the_same_kernel(
    killed_and_resumed: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result, runs = killed_and_resumed["result"], killed_and_resumed["runs"]
    assert run(["apply", "last", "--to", str(tmp_path / "fitted"), "--runs", str(runs)]) == 0
    fragment = (tmp_path / "fitted/kernel/bootlab.config").read_text()
    turned = {one["option"] for one in result["dropped"] if one["value"] == "n"}
    assert turned and turned <= set(re.findall(r"^# CONFIG_(\w+) is not set$", fragment, re.MULTILINE))
    # Laid over what the tailoring began with, last, it makes the very configuration.
    began = read_system(next(runs.glob("*/systems/baseline.toml")))
    build = began.kernel.build
    assert build is not None
    asked = {one.option: one.value for one in named_options(fragment, "bootlab.config")}
    laid = {**dict(build), "options": {**build.options, **asked}}
    (tmp_path / "laid.toml").write_text(system_text(began.with_part("kernel", build=laid)))
    capsys.readouterr()
    assert run(["build", "kernel", str(tmp_path / "laid.toml"), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert parse_config(Path(made["config"]).read_text()) == parse_config(Path(result["config"]).read_text())


@pytest.mark.promise("bootlab tailor")
def test_it_is_smaller_and_boots_shorter_and_says_why(killed_and_resumed: dict[str, Any]) -> None:
    result = killed_and_resumed["result"]
    assert result["comparison"]["verdict"] == "shorter"
    assert result["options_after"] < result["options_before"]
    assert result["steps"][-1]["kernel_bytes"] < result["steps"][0]["kernel_bytes"]
    assert all(drop["why"] for drop in result["dropped"])
    kept = {one["option"]: one for one in result["kept"]}
    assert set(kept) == on(result)
    assert all(one["why"] for one in kept.values())
    assert kept["PROC_FS"]["kind"] == "used" and kept["PROC_FS"]["why"].startswith("executed: ")
    assert kept["PVH"]["kind"] == "protected"
    assert "SYSFS" not in kept
    text = Path(result["reasons"]).read_text()
    lines = [line.split(maxsplit=2) for line in text.splitlines() if not line.startswith("#")]
    of = {option: (sign, why) for sign, option, why in lines}
    assert len(of) == len(lines) and {option for option, (sign, _) in of.items() if sign != "-"} == on(result)
    # And those that came on in the place of something, and went with the next.
    assert len(lines) >= result["options_before"] + len(result["gained"])
    assert of["PROC_FS"] == ("=", kept["PROC_FS"]["why"])
    assert of["SYSFS"][0] == "-" and result["reasons"] in killed_and_resumed["shown"]
    assert "verdict: shorter" in killed_and_resumed["shown"]
    words = [sys.executable, "-m", "bootlab", "report", result["run"]]
    shown = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    assert shown == killed_and_resumed["shown"], "a recorded run is shown as its verb did"


@pytest.mark.bench  # several kernels more
def test_another_job_gets_another_kernel(
    killed_and_resumed: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, runs = system(tmp_path / "system", JOBS["sys"]), tmp_path / "runs"
    assert run([*tailor(path, runs, "--builds", "3", "--json")[3:]]) == 0
    result = json.loads(capsys.readouterr().out)
    assert "SYSFS" in on(result) and "PROC_FS" not in on(result)
    # Each does its own work and not the other's.
    kernels = {"proc": killed_and_resumed["result"]["config"], "sys": result["config"]}
    for kernel, config in kernels.items():
        for job, init in JOBS.items():
            shutil.copyfile(config, tmp_path / f"{kernel}.config")
            booted = system(tmp_path / f"{kernel}-{job}", init, str(tmp_path / f"{kernel}.config"))
            code = run(["boot", str(booted), "--runs", str(runs)])
            assert (code == 0) == (kernel == job), capsys.readouterr().out


def test_a_flaky_check_is_found_before_anything_is_dropped(tmp_path: Path) -> None:
    path = system(tmp_path / "system", FLAKY)
    with pytest.raises(InputError, match="check: flaky: 1 of 6 boots that differ in nothing that matters failed"):
        run([*tailor(path, tmp_path / "runs")[3:]])
