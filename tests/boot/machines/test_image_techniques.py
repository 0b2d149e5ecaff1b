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
