"""Whole Debians on disks, by three inits, repeat to the nanosecond until all they start is up.

Those of examples/inits, with an ext4 root on each kind of disk that answers at once in the place of an NVDIMM, and on
each modelled one; an address by DHCP, and 64 writes before the goal that each wait for the disk.
"""

from pathlib import Path

import pytest

from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.profile.recorded.disk_requests import REQUESTS
from bootlab.system import System, read_system
from bootlab.system.disk_model import MODELS
from tests.boot.conftest import EXAMPLES

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

INITS = EXAMPLES / "inits"
DEVICES = {
    "virtio-blk": ("/dev/vda", ["virtio_blk"]),
    "nvme": ("/dev/nvme0n1", ["nvme"]),
    "scsi": ("/dev/sda", ["virtio_scsi", "sd_mod"]),
}
ALL_READY = "all-ready"
MARK = "bootlab-mark ready"
WRITES = "dd if=/dev/zero of=/var/lib/written bs=4k count=64 oflag=sync status=none\n"


def changed_file(folder: Path, source: Path, *changes: tuple[str, str]) -> Path:
    """Return a copy of a file whose text is changed, each change at one place or more."""
    text = source.read_text()
    for old, new in changes:
        assert old in text, (source, old)
        text = text.replace(old, new)
    copy = folder / source.name
    copy.write_text(text)
    copy.chmod(source.stat().st_mode)
    return copy


def on_disk(name: str, device: str, folder: Path) -> System:
    """Return the example with its root on such a disk, an address by DHCP from bootlab's network, and writes."""
    node, modules = DEVICES[device]
    system = read_system(INITS / f"{name}.toml")
    assert system.rootfs is not None and system.initramfs is not None
    common = INITS / "common"
    static = "\taddress 10.0.2.15/24\n\tgateway 10.0.2.2\n"
    files = {
        **system.rootfs.files,
        "/usr/local/sbin/goal": changed_file(folder, common / "goal", (MARK, WRITES + MARK)),
        "/etc/fstab": changed_file(folder, common / "fstab", ("/dev/pmem0", node)),
        "/etc/network/interfaces": changed_file(folder, common / "interfaces", (f" static\n{static}", " dhcp\n")),
    }
    if name == "units":
        conf = INITS / "units" / "etc" / "bootlab" / "init.conf"
        by_dhcp = ("address eth0 10.0.2.15/24 10.0.2.2", "address eth0 dhcp")
        files["/etc/bootlab/init.conf"] = changed_file(folder, conf, by_dhcp)
    without_nvdimm = [one for one in system.initramfs.modules if one not in ("nfit", "nd_pmem")]
    return (
        system.with_part("rootfs", device=device, files=files, packages=(*system.rootfs.packages, "isc-dhcp-client"))
        .with_part(
            "initramfs",
            init=changed_file(folder, INITS / "initramfs", ("/dev/pmem0", node)),
            modules=[*modules, *without_nvdimm],
        )
        .with_part("network", peer="bootlab")
        .with_part("booted", mark=ALL_READY)
    )


def expect_three_alike(system: System, exact: str, shop: Workshop, folder: Path) -> BootRecord:
    """Return the record of three boots that are the same until all is up, in all that the plugin saw."""
    prepared = prepare(shop, system)
    seen = []
    for number in (1, 2, 3):
        directory = folder / str(number)
        directory.mkdir()
        record = boot(prepared, directory, patience=4.0)
        assert record.outcome is Outcome.READY, (record.detail, (directory / "console.log").read_text()[-1000:])
        to_ready, found, _ = (directory / "trace.txt").read_text().partition(f"guest {ALL_READY}")
        assert found and exact in to_ready and record.remarks == []
        requests = directory / REQUESTS
        asked = requests.read_bytes() if requests.exists() else b""
        seen.append((to_ready, record.marks, record.instructions, record.idle_ns, record.console_sha256, asked))
    assert seen[0] == seen[1] == seen[2]
    return record


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["systemd", "sysvinit", "units"])
def test_a_whole_debian_repeats_until_all_of_it_is_up(name: str, device: str, shop: Workshop, tmp_path: Path) -> None:
    exact = "exact disks\nexact network\n"
    record = expect_three_alike(on_disk(name, device, tmp_path), exact, shop, tmp_path)
    took = record.marks[ALL_READY] / 1e6
    print(f"\n{name} on {device}: all ready at {took:,.3f} ms, three times; root {record.hashes['rootfs'][:12]}")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", ["systemd", "units"])
def test_a_whole_debian_repeats_on_each_modelled_disk(name: str, model: str, shop: Workshop, tmp_path: Path) -> None:
    system = on_disk(name, "virtio-blk", tmp_path).with_part("rootfs", model=model)
    record = expect_three_alike(system, "exact model:rootfs\n", shop, tmp_path)
    (disk,) = record.disks
    assert disk.reads > 100 and disk.writes > 64 and disk.flushes > 64
    took = record.marks[ALL_READY] / 1e6
    print(f"\n{name} on {model}: all ready at {took:,.3f} ms, three times; {disk.reads} reads, {disk.writes} writes")
