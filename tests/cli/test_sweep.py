"""Sweeps and studies that are refused before anything is made or booted, and runs that did not finish."""

from pathlib import Path

import pytest

from bootlab.cli.app import run
from bootlab.errors import InputError
from bootlab.experiments.store import RunKind, Store

SYSTEM = """name = "made-up"
[machine]
type = "q35"
[kernel]
image = "bzImage"
[booted]
mark = "ready"
"""


@pytest.fixture
def system(tmp_path: Path) -> str:
    (tmp_path / "bzImage").write_bytes(b"")
    path = tmp_path / "made-up.toml"
    path.write_text(SYSTEM)
    return str(path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sweep"], "nothing to sweep"),
        (["sweep", "--vcpus", "4"], "nothing to sweep"),
        (
            ["sweep", "--vcpus", "1..64", "--memory", "128M,1G", "--seeds", "9"],
            "1152 boots, and a sweep has 500 at most",
        ),
        (["sweep", "--memory", "1T"], "--memory 1T: not a size"),
        (["sweep", "--page-size", "4K,1G"], "'1g' is none of auto, 4K, 2M"),
        (["sweep", "--vcpus", "1,2", "--kernel", "gone.toml"], "gone.toml"),
        (["sweep", "--set", "kernel.cmdline"], "--set kernel.cmdline: expected KEY=VALUE"),
        (["sweep", "--set", "kernel.cmdlin=a,b"], "kernel.cmdlin: unknown key"),
        (["sweep", "--set", "machine.vcpus=1,2"], "machine.vcpus: has an option of its own"),
        (["sweep", "--set", "kernel.cmdline=a", "--set", "kernel.cmdline=b"], "--set kernel.cmdline: given twice"),
        (["sweep", "--set", "kernel.cmdline=a"], "nothing to sweep"),
        (["study", "compression"], "nothing to compress: kernel: only a kernel that is built"),
        (["study", "compression", "--speeds", "0"], "'0' is no speed in MB/s"),
        (["study", "compression", "--what", "rootfs"], "'rootfs' is none of kernel, initramfs"),
    ],
)
def test_refused_before_a_run_begins(words: list[str], said: str, system: str, tmp_path: Path) -> None:
    verb = words[:2] if words[0] == "study" else words[:1]
    with pytest.raises(InputError) as caught:
        run([*verb, system, *words[len(verb) :], "--runs", str(tmp_path / "runs")])
    assert said in caught.value.message
    assert not (tmp_path / "runs").exists()


def test_a_place_that_cannot_be_is_told_before_any_is_prepared(system: str, tmp_path: Path) -> None:
    path = Path(system).with_name("microvm.toml")
    path.write_text(SYSTEM.replace('type = "q35"', 'type = "microvm"\noptions = { acpi = "off" }'))
    with pytest.raises(InputError, match="tells its guest of one CPU only"):
        run(["sweep", str(path), "--vcpus", "1,2", "--runs", str(tmp_path / "runs")])
    assert not (tmp_path / "runs").exists()


def test_two_kernels_of_one_name_need_other_file_names(system: str, tmp_path: Path) -> None:
    other = tmp_path / "other" / "made-up.toml"
    other.parent.mkdir()
    (other.parent / "bzImage").write_bytes(b"")
    other.write_text(SYSTEM)
    with pytest.raises(InputError, match="two systems are called 'made-up'"):
        run(["sweep", system, "--kernel", f"{system},{other}", "--runs", str(tmp_path / "runs")])


@pytest.mark.parametrize(("kind", "verb"), [(RunKind.SWEEP, "sweep"), (RunKind.STUDY, "study compression")])
def test_a_run_that_did_not_finish_says_how_to_go_on(kind: RunKind, verb: str, tmp_path: Path) -> None:
    unfinished = Store(tmp_path).start(kind, "made-up", {})
    with pytest.raises(InputError, match="was interrupted and has no result yet") as caught:
        run(["report", str(unfinished.path)])
    assert caught.value.hint is not None and f"bootlab {verb} SYSTEM --resume {unfinished.path}" in caught.value.hint


def test_only_a_run_of_the_same_kind_and_system_goes_on(system: str, tmp_path: Path) -> None:
    other = Store(tmp_path / "runs").start(RunKind.TRY, "made-up", {})
    with pytest.raises(InputError, match="is a try of made-up, not a sweep of made-up"):
        run(["sweep", system, "--resume", str(other.path), "--runs", str(tmp_path / "runs")])
