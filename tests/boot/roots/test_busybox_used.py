"""A stock kernel boots with busybox built of the applets that its files name, and its whole check passes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.boot, pytest.mark.network]

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_a_system_does_its_work_with_the_applets_that_its_files_name(tmp_path: Path) -> None:
    text = (EXAMPLES / "debian-cloud.toml").read_text().replace('"cloud/', f'"{EXAMPLES}/cloud/')
    path = tmp_path / "cloud.toml"
    path.write_text(text.replace("panic=-1", "panic=-1 cryptomgr.notests"))
    words = [sys.executable, "-m", "bootlab", "boot", str(path), "--runs", str(tmp_path / "runs"), "--json"]
    whole = subprocess.run(words, capture_output=True, text=True, check=False)
    assert whole.returncode == 0, whole.stderr
    path.write_text(path.read_text().replace("[initramfs]\n", '[initramfs]\nbusybox_applets = "used"\n', 1))
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    before, after = (json.loads(one.stdout)["sizes"]["initramfs"] for one in (whole, done))
    assert after < before - 300_000
    told = subprocess.run(words[:-1], capture_output=True, text=True, check=True).stderr
    # What stays is told with who names it, and what is left out by name.
    assert "insmod (/init)" in told and "applets stay" in told and "left out: " in told
    assert " vi" in told.partition("left out: ")[2]


INTERFACES = """auto lo
iface lo inet loopback
auto eth0
iface eth0 inet static
	address 10.0.2.15
	netmask 255.255.255.0
"""


def test_a_network_that_ifup_brings_up_has_what_ifup_runs(tmp_path: Path) -> None:
    init = (EXAMPLES / "cloud" / "init").read_text()
    before, rest = init.split("start_network() {\n")
    after = rest.split("}\n", 1)[1]
    (tmp_path / "init").write_text(f'{before}start_network() {{\n\tifup -a || fail "network: ifup"\n}}\n{after}')
    for name, text in {"interfaces": INTERFACES, "up": "#!/bin/sh\n"}.items():
        (tmp_path / name).write_text(text)
    empty = ("/etc/network/if-pre-up.d/a", "/etc/network/if-up.d/a", "/run/a", "/var/run/a")
    files = ", ".join(['"/etc/network/interfaces" = "interfaces"', *(f'"{path}" = "up"' for path in empty)])
    text = (EXAMPLES / "debian-cloud.toml").read_text().replace("panic=-1", "panic=-1 cryptomgr.notests")
    text = text.replace('"cloud/init"', '"init"\nbusybox_applets = "used"')
    text = text.replace(
        '{ "/sbin/answer" = "cloud/answer" }', f'{{ "/sbin/answer" = "{EXAMPLES}/cloud/answer", {files} }}'
    )
    (tmp_path / "ifup.toml").write_text(text)
    words = [sys.executable, "-m", "bootlab", "boot", str(tmp_path / "ifup.toml"), "--runs", str(tmp_path / "runs")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ip (busybox's ifup)" in done.stderr and "run-parts (busybox's ifup)" in done.stderr
