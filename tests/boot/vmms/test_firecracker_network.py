"""Firecracker's taps, MMDS and jailer with a kernel: in an emulated machine with AMD's SVM, by bootlab's verbs.

A stock Debian reads on 169.254.169.254 what it is to be, and as a server answers its host over TCP. As
test_firecracker.py, which has what the machine is made of; BOOTLAB_JAILER names the jailer.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.record import BootRecord, Outcome
from tests.boot.machines.nested_kvm.verbs_inside import run_inside
from tests.boot.vmms.nested_vmms import (
    BOOTED,
    FIRECRACKER,
    FIRECRACKER_PROGRAM,
    JAILER_PROGRAM,
    debian,
    files_of,
    nested_host,
    put_files,
    require_vmm,
    the_boot,
    told_document,
    write_systems,
)

pytestmark = [pytest.mark.boot, pytest.mark.network]

GUEST, HOST, PORT = "172.16.0.2", "172.16.0.1", 7777
INIT = f"""#!/bin/busybox sh
export PATH=/bin:/sbin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
while read -r module; do insmod "$module"; done </etc/bootlab/modules
ip link set lo up
ip link set eth0 up
ip addr add {GUEST}/24 dev eth0
ip route add 169.254.169.254 dev eth0
[ -x /sbin/bootlab-clone ] && bootlab-clone
ask() {{
	printf '%s %s HTTP/1.1\\r\\n%s\\r\\n\\r\\n' "$@" | nc -w 5 169.254.169.254 80 | tail -n 1
}}
bootlab-mark ready
token=$(ask PUT /latest/api/token 'X-metadata-token-ttl-seconds: 60')
role=$(ask GET /latest/role "X-metadata-token: $token")
echo "bootlab: fact role $role"
echo "bootlab: fact untold $(ask GET /latest/role 'Accept: */*')"
echo "this is $role" >/answer
[ "$role" = server ] && nc -l -p {PORT} -e /bin/cat /answer
echo "bootlab: check ok"
sleep 1000
"""
CARD = 'tap = "tap{n}"\nmmds = "%s.json"\n'
JAIL = 'jailer = "/jailer"\nuid = 4321\ngid = 4321\nchroot_base = "/var/tmp"\n'
JAIL += 'cgroup_version = 2\ncgroups = ["pids.max=64"]\n'
CMDLINE = "console=ttyS0 panic=-1 reboot=t cryptomgr.notests quiet"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Boot the machine with SVM and let it do all its work; gives what it told, by name."""
    program = require_vmm(FIRECRACKER_PROGRAM, "Firecracker")
    jailer = require_vmm(JAILER_PROGRAM, "jailer")
    folder = tmp_path_factory.mktemp("nested")
    shop = Workshop(Cache.default())
    tree = nested_host(folder, {"firecracker": program, "jailer": jailer}, ("cp", "mv", "setpriv"))
    put_files(tree, {"card": debian(shop, INIT, folder, card=True, agent=True)})
    for role in ("server", "client"):
        tree.at(f"/systems/{role}.json").write_text(json.dumps({"latest": {"role": role}}))
    # Of two there is one with an address: the machines of a storm say nothing to it.
    tree.at("/taps").write_text(f"tap1 {HOST}/24\ntap2 172.17.0.1/24\n")
    files = files_of("card", CMDLINE) + "[network]\n" + BOOTED
    systems = {
        "server": FIRECRACKER + CARD % "server" + files,
        "client": FIRECRACKER + CARD % "client" + files,
        "one": FIRECRACKER + (CARD % "client").replace("{n}", "1") + files,
        "jailed": FIRECRACKER + JAIL + CARD % "server" + files,
        "kept": FIRECRACKER + CARD % "client" + "[snapshot]\n" + files,
        "kept-jailed": FIRECRACKER + JAIL + CARD % "client" + "[snapshot]\n" + files,
    }
    write_systems(tree, systems)
    probe = f"probe {GUEST}:{PORT} --banner {PORT} --for 200"
    clones = ["--from", "last", "--clones", "2", "--parallel", "2"]
    verbs = {
        "answers": ["beside", probe, "boot", "/systems/server.toml"],
        "jailed": ["beside", probe, "boot", "/systems/jailed.toml"],
        "storm": ["storm", "/systems/client.toml", "-n", "2", "--overcommit"],
        "three": ["storm", "/systems/client.toml", "-n", "3", "--overcommit"],
        "one": ["storm", "/systems/one.toml", "-n", "2", "--overcommit"],
        "keep": ["snapshot", "/systems/kept.toml"],
        "clones": ["boot", "/systems/kept.toml", *clones],
        "jail_keep": ["snapshot", "/systems/kept-jailed.toml"],
        "jail_clones": ["boot", "/systems/kept-jailed.toml", *clones],
    }
    yield run_inside(tree, verbs, folder, 1500)


@pytest.mark.parametrize("name", ["answers", "jailed"])
def test_a_guest_on_a_tap_answers_its_host(told: dict[str, Any], name: str) -> None:
    record = the_boot(told, name)
    assert record.outcome is Outcome.READY, record.detail
    probed = told[name]["beside"]
    assert probed["code"] == 0, probed
    assert {"ping", f"port_{PORT}_open", f"port_{PORT}_banner"} <= probed["document"]["marks"].keys()
    assert record.vmm is not None
    print([(step.name, round(step.duration_ns / 1e6, 1)) for step in record.vmm.launch])
    assert ("jailer" in [step.name for step in record.vmm.launch]) is (name == "jailed")


def test_its_metadata_are_read_with_a_token_and_not_without(told: dict[str, Any]) -> None:
    for name in ("answers", "jailed"):
        facts = the_boot(told, name).facts
        assert facts["role"] == "server" and facts["untold"] != "server", facts


def test_each_machine_of_a_storm_has_a_tap_of_its_own(told: dict[str, Any]) -> None:
    assert told_document(told, "storm")["ready"] == 2
    assert told["three"]["code"] == 2 and "target.tap: tap3: no such network device" in told["three"]["error"]
    assert told["one"]["code"] == 2 and "target.tap: each machine needs one of its own" in told["one"]["error"]
    assert 'target.tap = "tap{n}"' in told["one"]["error"]


@pytest.mark.parametrize("name", ["clones", "jail_clones"])
def test_clones_have_taps_of_their_own_and_metadata_again(told: dict[str, Any], name: str) -> None:
    found = told_document(told, name)
    assert found["alike"] == []
    for one in found["boots"]:
        record = BootRecord.model_validate(one)
        # The data are no part of the snapshot: bootlab tells them again before the machine goes on.
        assert record.facts["role"] == "client", record.facts
