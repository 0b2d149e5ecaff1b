"""A cloud's image made sooner from inside: what its changes save to sshd's port, on a first boot and on the second."""

from pathlib import Path

import pytest

from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.report.parts.figures import ms
from bootlab.report.parts.markdown import markdown_table
from bootlab.system import System
from tests.boot.machines.test_images import bootlab, system_of
from tests.handed_over import Table
from tests.techniques.asking import ALL, NOTHING

pytestmark = [pytest.mark.boot, pytest.mark.network]

# What of the plan cloud-image changes files and the command line, and what of the initramfs brings this machine to its
# root: ext4 is in Debian's kernel.
SOONER = (
    "userspace_cloud_init_late",
    "userspace_cloud_init_once",
    "cmdline_cryptomgr_notests",
    "cmdline_no_timer_check",
    "cmdline_ftrace_names",
    "cmdline_tracefs",
    "cmdline_trace_events",
)
TO_ITS_ROOT = ("virtio_blk",)


def test_sshd_of_a_cloud_image_is_sooner_there_on_its_first_boot_and_on_later_ones(
    shop: Workshop, tmp_path: Path, table: Table
) -> None:
    """Two boots each, a first life and the one behind it; a changed image runs cloud-init once, behind sshd."""
    image = tmp_path / "cloud.img"
    packages = ["--packages", "cloud-init,cloud-guest-utils", "--first-boot-clean", "--disk", "2048"]
    bootlab("build", "image", *packages, "-o", image, "--json")
    plain = system_of(image, tmp_path, ('console = "login:"', 'mark = "ssh"')).with_part("image", life_s=60)
    ed25519 = ALL["userspace_cloud_init_ed25519"].change.apply(plain, NOTHING)
    changed = ed25519.with_part("image", keep_modules=TO_ITS_ROOT)
    for name in SOONER:
        changed = ALL[name].change.apply(changed, NOTHING)
    few = ALL["userspace_udev_few"].change.apply(changed, NOTHING)
    systems = {
        "as it is": plain,
        "an Ed25519 key alone": ed25519,
        "changed": changed,
        "changed, `userspace_udev_few` besides": few,
    }
    booted = {name: [_life(system, life, shop, tmp_path) for life in (1, 2)] for name, system in systems.items()}
    rows = [[name, *(ms(record.marks["ssh"]) for record in records)] for name, records in booted.items()]
    table(markdown_table(["port 22 answers, ms", "first boot>", "second boot>"], rows), boots=[*booted.items()])
    firsts, seconds = zip(*([record.marks["ssh"] for record in records] for records in booted.values()), strict=True)
    assert firsts[0] > firsts[1] > firsts[2] > firsts[3] and seconds[0] > seconds[2] > seconds[3]
    assert "Cloud-init" not in _console(booted["changed"][1]), "its first boot has switched it off"


def _life(system: System, life: int, shop: Workshop, folder: Path) -> BootRecord:
    place = folder / "lives" / str(sum(1 for _ in (folder / "lives").glob("*")))
    place.mkdir(parents=True)
    record = boot(prepare(shop, system.with_part("image", life=life)), place)
    assert record.outcome is Outcome.READY, record.detail
    return record


def _console(record: BootRecord) -> str:
    return (Path(record.run) / "console.log").read_text(errors="replace")
