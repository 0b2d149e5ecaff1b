"""The microVM example's kernel, built as it is shipped, and what it is shown to do: one build on a cold cache."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.build.workshop import Workshop
from bootlab.experiments.series import are_identical
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import System, read_system
from tests.boot.conftest import EXAMPLES, Boot

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

MICROVM = EXAMPLES / "microvm"
DISK_ROOT = MICROVM / "disk-root.toml"
MOST_INSTRUCTIONS = 15_000_000
"""To ready: the mark that the kernel was built for, well above what it takes."""

needs_go = pytest.mark.skipif(shutil.which("go") is None, reason="needs go: apt-get install golang-go")


@pytest.fixture
def three_boots(shop: Workshop, tmp_path: Path) -> Callable[[System], list[BootRecord]]:
    def run(system: System) -> list[BootRecord]:
        prepared = prepare(shop, system)
        folders = [tmp_path / str(number) for number in range(3)]
        for folder in folders:
            folder.mkdir()
        return [boot(prepared, folder) for folder in folders]

    return run


def console(record: BootRecord) -> list[str]:
    return Path(record.run, "console.log").read_text().splitlines()


def test_the_web_server_does_its_work_and_its_boots_are_identical(
    three_boots: Callable[[System], list[BootRecord]],
) -> None:
    # READY: past its check, a page that says what the disk, the cgroup and the ping did.
    records = three_boots(read_system(EXAMPLES / "microvm.toml"))
    assert [record.outcome for record in records] == [Outcome.READY] * 3, [record.detail for record in records]
    assert are_identical(records)
    assert records[0].instructions is not None and records[0].instructions <= MOST_INSTRUCTIONS


def test_its_ext4_root_is_mounted_and_written(run_boot: Boot) -> None:
    record = run_boot(read_system(DISK_ROOT))
    assert record.outcome is Outcome.READY, record.detail
    # What waits for the disk is idle, and the host's.
    assert record.instructions is not None and record.instructions <= MOST_INSTRUCTIONS
    said = console(record)
    assert "/dev/root / ext4 rw,relatime 0 0" in said
    for proof in ("written to the root", "0::/job", "1 packets transmitted, 1 packets received, 0% packet loss"):
        assert proof in said


def test_a_root_that_cannot_be_written_fails_the_check(run_boot: Boot) -> None:
    system = read_system(DISK_ROOT)
    read_only = system.with_part("kernel", cmdline=system.kernel.cmdline.replace(" rw ", " ro "))
    record = run_boot(read_only)
    assert record.outcome is Outcome.CHECK_FAILED
    assert record.detail == "bootlab: check failed: the root is ext4 and may be written"


def test_a_root_that_is_no_ext4_fails_the_check(run_boot: Boot) -> None:
    system = read_system(DISK_ROOT).model_dump(exclude_unset=True)
    system["initramfs"] = {"init": system.pop("rootfs")["init"], "compression": "none"}
    record = run_boot(System.model_validate(system))
    assert record.outcome is Outcome.CHECK_FAILED
    assert record.detail == "bootlab: check failed: the root is ext4 and may be written"


@pytest.mark.parametrize(("name", "line"), [("hello", "Hello!"), pytest.param("hello-go", "Hello Go!", marks=needs_go)])
def test_the_smallest_programs_are_heard(
    name: str, line: str, three_boots: Callable[[System], list[BootRecord]]
) -> None:
    records = three_boots(read_system(MICROVM / f"{name}.toml"))
    # The program ends, and with it the machine: that comes after ready, and is no failure.
    assert [record.outcome for record in records] == [Outcome.READY] * 3, [record.detail for record in records]
    assert are_identical(records)
    assert records[0].instructions is not None and records[0].instructions <= MOST_INSTRUCTIONS
    assert line in console(records[0])
