"""Losses that are known of clouds' images, planted in one: its audit names each of them, from one boot.

They are those of FreeBSD's page on its boot time, and of a stock cloud image of Debian: each line of `PLANTED`.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bootlab.build.cache import file_sha256
from bootlab.findings.audit.finding import Audit
from bootlab.measure.record_files import read_record
from bootlab.report.findings.audit_markdown import audit_markdown
from tests.handed_over import Table

pytestmark = [pytest.mark.boot, pytest.mark.network]

ROOT = Path(__file__).parents[3]
GIB = 1 << 30
# ifupdown waits for an address like this, and rtsold for a router; devd asks for a module by each device.
SCRIPT = """#!/bin/sh
ip link add veth0 type veth peer name veth1
sysctl -qw net.ipv6.conf.veth0.accept_ra=2
ip link set veth1 up
ip link set veth0 up
while ip -6 address show dev veth0 | grep -q tentative; do sleep 0.1; done
sleep 1
modprobe dummy
"""
FILES = {
    "/etc/cloud/ds-identify.cfg": "policy: enabled\n",
    "/etc/cloud/cloud.cfg.d/95-sources.cfg": "datasource_list: [ CloudStack, None ]\n"
    "datasource: {CloudStack: {timeout: 1, max_wait: 2}}\n",
    "/etc/systemd/system/ssh.service.d/90-planted.conf": """[Unit]
Wants=systemd-networkd-wait-online.service planted.service
After=systemd-networkd-wait-online.service planted.service
""",
    "/etc/systemd/system/planted.service": "[Service]\nType=oneshot\nExecStart=/usr/local/sbin/planted\n",
    "/usr/local/sbin/planted": SCRIPT,
    "/etc/sysctl.d/90-planted.conf": "net.ipv6.conf.default.dad_transmits = 2\n",
}
# Kind of finding -> the beginning of one of its items, and the ms that this cost or lasted at least.
PLANTED = {
    "bootloader's menu": ("the menu", 2000),
    "work before the kernel": ("loader", 300),
    "delays": ("init_acpi_pm_clocksource", 1),
    "modprobe calls": ("1 by planted", 1),
    "uevents": ("/devices/pci", 10),
    "settle waits": ("udevadm settle", 1),
    "sleeps in scripts": ("sleep 1, run by planted", 1000),
    "waits to be online": ("/lib/systemd/systemd-networkd-wait-online", 100),
    "IPv6 addresses": ("an address that was tentative", 2000),
    "cloud-init": ("cloud-init init", 2000),
    "host keys": ("ssh-keygen -t rsa", 500),
    "disk is grown": ("/usr/bin/growpart /dev/vda 1", 50),
    "units that wait until nothing else starts": ("/sbin/agetty", 1000),
    "console output": ("the kernel's messages", 1),
    "initramfs modules never used": ("xfs", 1),
    "network locks at idle priority": ("e2scrub_reap", 0),
}

# Debian 13's cloud-init is one process, its programs lie below /usr, and its systemd asks a terminal for its size.
OF_TRIXIE = {
    "cloud-init": ("cloud-init --all-stages", 2000),
    "waits to be online": ("/usr/lib/systemd/systemd-networkd-wait-online", 100),
    "terminals asked for their size": ("/sbin/agetty", 300),
    "modules that the kernel asks for": ("4 x net", 100),
}
STAGES = {"bookworm": {"cloud-init init --local", "cloud-init modules --mode=config"}, "trixie": {"ds-identify"}}


def _bootlab(*words: str | Path) -> str:
    argv = [sys.executable, "-m", "bootlab", *map(str, words)]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=ROOT, check=False, timeout=3600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _write_system(image: Path, path: Path) -> None:
    _bootlab("boot", image, "--write-system", path)
    files = "".join(f"{json.dumps(name)} = {json.dumps(text)}\n" for name, text in FILES.items())
    # A network without a router for IPv6, too.
    parts = f'[image.files]\n{files}\n[network]\nipv6 = "silent"\n'
    path.write_text(path.read_text().replace("[network]\n", parts, 1))


@pytest.mark.parametrize("suite", ["bookworm", "trixie"])
def test_each_planted_loss_is_named_from_one_boot(suite: str, tmp_path: Path, table: Table) -> None:
    image, system = tmp_path / "planted.img", tmp_path / "planted.toml"
    packages = ["--suite", suite, "--packages", "cloud-init,cloud-guest-utils"]
    _bootlab("build", "image", *packages, "--first-boot-clean", "--menu", "2", "-o", image, "--json")
    # A disk that is larger than its image: what grows it has something to do.
    os.truncate(image, 2 * GIB)
    before = file_sha256(image)
    _write_system(image, system)
    audit: dict[str, Any] = json.loads(
        _bootlab("audit", system, "--goal", "ssh", "--json", "--runs", tmp_path / "runs")
    )
    assert audit["outcome"] == "ready" and audit["not_looked"] == {} and file_sha256(image) == before
    table(audit_markdown(Audit.model_validate(audit), [read_record(Path(audit["run"]) / "boots/1")]))
    found = {one["kind"]: one for one in audit["findings"]}
    lost = []
    for kind, (what, least_ms) in (PLANTED | (OF_TRIXIE if suite == "trixie" else {})).items():
        items = [one for one in found.get(kind, {}).get("items", []) if one["what"].startswith(what)]
        took = [max(one["cost_ns"] or 0, one["lasted_ns"] or 0) for one in items]
        if not took or max(took) < least_ms * 1_000_000:
            lost.append((kind, what, took))
    assert not lost, lost
    for finding in audit["findings"]:
        assert finding["cost_ns"] == finding["executed_ns"] + finding["idle_ns"] <= audit["total_ns"]
        assert sum(item["cost_ns"] or 0 for item in finding["items"]) <= finding["cost_ns"] + len(finding["items"])
    told = {one["what"]: one for one in found["cloud-init"]["items"]}
    assert STAGES[suite] <= told.keys()
    assert any(re.fullmatch(r"asked http://10\.0\.2\.2(:80)?/.*in vain", what) for what in told)
    assert found["cloud-init"]["idle_ns"] > 1_000_000_000, "it waits for a data source that there is not"
    assert found["host keys"]["technique"] == "userspace_cloud_init_ed25519"
    assert found["cloud-init"]["technique"] == "userspace_cloud_init_one_source"
    assert found["disk is grown"]["technique"] == "userspace_cloud_init_no_growth"
    assert found["waits to be online"]["technique"] == "userspace_online_unawaited"
    assert found["IPv6 addresses"]["technique"] == "userspace_ipv6_dad_none"
    assert found["units that wait until nothing else starts"]["technique"] == "userspace_getty_at_once"
    assert found["bootloader's menu"]["technique"] == "bootloader_menu_none"
    assert "no answers" in json.dumps(found["IPv6 addresses"]["items"])
    # The same boot says what was read in each part of it.
    record = json.loads((Path(audit["run"]) / "boots/1/record.json").read_text())
    read = {phase["name"]: phase["read_bytes"] for phase in record["phases"]}
    assert read["firmware"] == 512 and read["boot sector"] == 512
    assert read["loader"] > 20_000_000 and read["initcalls"] == 0 and read["user space"] > 50_000_000
