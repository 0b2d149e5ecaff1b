"""Machines that Cloud Hypervisor keeps and takes up, for real: in an emulated machine with AMD's SVM.

As test_cloud_hypervisor.py, which has what the machine is made of. BOOTLAB_VMM_BOOTS says how many clones there are.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from tests.boot.machines.nested_kvm.verbs_inside import run_inside
from tests.boot.vmms.nested_clones import (
    MANY,
    add_kept_systems,
    expect_clone,
    expect_clones,
    expect_disks_taken_up,
    expect_kept,
    expect_others_refused,
    expect_untold_goes_on,
    hand_over_clones,
    verbs_of_clones,
)
from tests.boot.vmms.nested_vmms import BOOTS, CLOUD_HYPERVISOR, CLOUD_HYPERVISOR_PROGRAM, nested_host, require_vmm
from tests.handed_over import Table

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

OWN = {"ondemand": 'memory_restore_mode = "ondemand"\n', "prefault": "prefault = true\n"}
ASKED = {
    "ondemand": ["boot", "/systems/ondemand.toml", *MANY],
    "prefault_keep": ["snapshot", "/systems/prefault.toml"],
    "prefault_clone": ["boot", "/systems/prefault.toml", "--from", "last"],
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Keep and take up machines in the machine with SVM; gives what it told, by name."""
    program = require_vmm(CLOUD_HYPERVISOR_PROGRAM, "Cloud Hypervisor")
    folder = tmp_path_factory.mktemp("nested")
    tree = nested_host(folder, {"cloud-hypervisor": program}, ("cp", "setpriv"))
    add_kept_systems(tree, Workshop(Cache.default()), folder, CLOUD_HYPERVISOR, OWN, bus="pci")
    yield run_inside(tree, verbs_of_clones(ASKED), folder, 900 + 60 * BOOTS)


def test_a_machine_is_kept_where_its_agent_waits(told: dict[str, Any]) -> None:
    expect_kept(told, {"ram", "state", "configuration"})


@pytest.mark.parametrize(("name", "number"), [("clone", 7), ("prefault_clone", 1)])
def test_a_clone_goes_on_and_is_who_it_was_told_to_be(told: dict[str, Any], name: str, number: int) -> None:
    clone = expect_clone(told, name, number)
    assert clone.vmm is not None
    own = clone.vmm.own
    assert own["vm restoring"] < own["vm restored"] < own["vm resuming"] < own["vm resumed"]


@pytest.mark.parametrize("name", ["clones", "ondemand", "beside"])
def test_clones_are_ready_and_all_different(told: dict[str, Any], name: str) -> None:
    assert expect_clones(told, name)


def test_what_each_part_of_a_clone_takes(told: dict[str, Any], table: Table) -> None:
    hand_over_clones(told, {'`"copy"`': "clones", '`"ondemand"`': "ondemand"}, table)


def test_a_disk_that_is_mounted_goes_with_it(told: dict[str, Any]) -> None:
    expect_disks_taken_up(told)


def test_what_is_not_that_machine_is_refused(told: dict[str, Any]) -> None:
    expect_others_refused(told)


def test_one_that_is_not_told_goes_on_as_if_it_had_never_been_kept(told: dict[str, Any]) -> None:
    expect_untold_goes_on(told)
