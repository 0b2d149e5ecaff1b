"""Techniques for what an audit of an image names: each changes one real boot, which proves it, and the check passes."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from bootlab.build.workshop import Workshop
from bootlab.findings.technique_evidence import evidence_of, measured_of
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.report.parts.figures import ms
from bootlab.report.parts.markdown import code, markdown_table
from bootlab.system import System
from bootlab.techniques.model.evidence import Effect
from bootlab.timeline import marks as m
from tests.boot.machines.test_image_audit import FILES, GIB
from tests.boot.machines.test_images import bootlab, system_of
from tests.handed_over import Table
from tests.techniques.asking import ALL, NOTHING

pytestmark = [pytest.mark.boot, pytest.mark.network]

WAITS = """[image.files]
"/etc/systemd/system/ssh.service.d/90-waits.conf" = '''
[Unit]
Wants=systemd-networkd-wait-online.service network-online.target
After=systemd-networkd-wait-online.service network-online.target
'''

[network]
"""


def tried(system: System, names: Sequence[str], shop: Workshop, folder: Path) -> dict[str, tuple[BootRecord, Effect]]:
    """Boot a system, and once with each of these techniques; return each boot, and whether it proves its technique."""
    watch = tuple(symbol for name in names for symbol in ALL[name].proof.watch)

    def booted(name: str, one: System) -> BootRecord:
        (folder / name).mkdir()
        record = boot(prepare(shop, one, watch=watch), folder / name)
        assert record.outcome is Outcome.READY, record.detail
        return record

    plain = booted("plain", system)
    found = {"plain": (plain, Effect.NOT_SHOWN)}
    for name in names:
        change = ALL[name].change
        assert change.applies(system, measured_of(plain)) is None
        record = booted(name, change.apply(system, measured_of(plain)))
        found[name] = record, ALL[name].proof.prove(evidence_of(record), evidence_of(plain))
    return found


def hand_over(found: dict[str, tuple[BootRecord, Effect]], marks: dict[str, str], table: Table) -> None:
    """Hand over what each technique's mark came after, without it and with it. `marks`: technique -> mark."""
    before = found["plain"][0].marks
    rows = [
        [code(name), "ready" if mark == "ready" else code(mark), ms(before[mark]), ms(found[name][0].marks[mark])]
        for name, mark in marks.items()
    ]
    titles = ["technique", "up to", "before, ms>", "after, ms>"]
    table(markdown_table(titles, rows), boots=[(name, [record]) for name, (record, _) in found.items()])


@pytest.mark.parametrize("suite", ["bookworm", "trixie"])
def test_a_prompt_and_sshd_wait_for_less(suite: str, shop: Workshop, tmp_path: Path, table: Table) -> None:
    """sshd is ordered behind the network, as many a service of a stranger's image is."""
    image = tmp_path / "waits.img"
    bootlab("build", "image", "--suite", suite, "-o", image, "--json")
    system = system_of(image, tmp_path, ("[network]\n", WAITS))
    names = ["userspace_getty_at_once", "userspace_online_unawaited", "userspace_ipv6_dad_none"]
    if suite == "trixie":
        names += ["userspace_tty_size_told", "cmdline_ssh_auto_off"]
    found = tried(system, names, shop, tmp_path)
    assert {name: effect for name, (_, effect) in found.items() if name in names} == dict.fromkeys(names, Effect.PROVEN)
    sshd = {"userspace_online_unawaited", "cmdline_ssh_auto_off"}
    sooner = {name: "ssh" if name in sshd else "ready" for name in names}
    hand_over(found, sooner, table)
    for name in set(names) - {"userspace_ipv6_dad_none"}:
        assert found[name][0].marks[sooner[name]] < found["plain"][0].marks[sooner[name]], name


def test_cloud_init_asks_one_source_and_grows_no_disk(shop: Workshop, tmp_path: Path, table: Table) -> None:
    image = tmp_path / "cloud.img"
    packages = ["--packages", "cloud-init,cloud-guest-utils"]
    bootlab("build", "image", *packages, "--first-boot-clean", "-o", image, "--json")
    os.truncate(image, 2 * GIB)
    files = {name: text for name, text in FILES.items() if "cloud" in name}
    # Ready when cloud-init has done its job, and with Ed25519's key alone: chance has no part in it.
    system = system_of(image, tmp_path, ('"login:"', "'Cloud-init v. .* finished .*seconds'"))
    system = ALL["userspace_cloud_init_ed25519"].change.apply(system.with_part("image", files=files), NOTHING)
    names = ("userspace_cloud_init_one_source", "userspace_cloud_init_no_growth")
    found = tried(system, names, shop, tmp_path)
    assert {name: effect for name, (_, effect) in found.items() if name in names} == dict.fromkeys(names, Effect.PROVEN)
    assert all("ssh" in record.marks for record, _ in found.values())
    hand_over(found, dict.fromkeys(names, "ready"), table)
    ready = {name: record.ready_ns or 0 for name, (record, _) in found.items()}
    assert ready["userspace_cloud_init_one_source"] < ready["plain"] - 1_000_000_000


@pytest.mark.kernel
def test_firmware_that_is_built_without_compression_does_not_unpack_itself(shop: Workshop, tmp_path: Path) -> None:
    image = tmp_path / "plain.img"
    bootlab("build", "image", "-o", image, "--json")
    newer = ("memory_mib = 1024", 'memory_mib = 1024\nfirmware = "ovmf"\nfirmware_suite = "trixie"')
    name = "firmware_volumes_uncompressed"
    found = tried(system_of(image, tmp_path, newer), [name], shop, tmp_path)
    (plain, _), (unpacked, effect) = found["plain"], found[name]
    assert effect is Effect.PROVEN
    # The rest of the firmware is the same release: what SEC no longer does is what is saved.
    saved_ns = plain.marks[m.PEI_ENTRY] - unpacked.marks[m.PEI_ENTRY]
    assert unpacked.marks["ready"] < plain.marks["ready"] - saved_ns * 0.8


# What of the plan cloud-image changes files, the command line and the initramfs; the modules by which this machine
# reaches its root.
SOONER = (
    "userspace_cloud_init_late",
    "userspace_cloud_init_once",
    "cmdline_cryptomgr_notests",
    "cmdline_no_timer_check",
    "cmdline_ftrace_names",
    "cmdline_tracefs",
    "cmdline_trace_events",
)
TO_ITS_ROOT = ("virtio_pci", "virtio_blk", "ext4")


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
