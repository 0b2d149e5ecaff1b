"""Machines that Firecracker keeps and takes up, for real: in an emulated machine with AMD's SVM, by bootlab's verbs.

As test_firecracker.py, which has what the machine is made of. BOOTLAB_VMM_BOOTS says how many clones there are.
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
from tests.boot.vmms.nested_vmms import BOOTS, FIRECRACKER, FIRECRACKER_PROGRAM, nested_host, require_vmm
from tests.boot.vmms.nested_vmms import told_document as the
from tests.handed_over import Table

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

OWN = {"served": 'pages = "served"\n', "tracked": "track_dirty_pages = true\n"}
ASKED = {
    "served": ["boot", "/systems/served.toml", *MANY],
    "diff_keep": ["snapshot", "/systems/tracked.toml", "--memory", "diff"],
    "diff_clones": ["boot", "/systems/tracked.toml", "--from", "last", "--clones", "2"],
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Keep and take up machines in the machine with SVM; gives what it told, by name."""
    program = require_vmm(FIRECRACKER_PROGRAM, "Firecracker")
    folder = tmp_path_factory.mktemp("nested")
    tree = nested_host(folder, {"firecracker": program}, ("cp", "setpriv"))
    add_kept_systems(tree, Workshop(Cache.default()), folder, FIRECRACKER, OWN, bus="mmio", words=" reboot=t")
    yield run_inside(tree, verbs_of_clones(ASKED), folder, 900 + 60 * BOOTS)


def test_a_machine_is_kept_where_its_agent_waits(told: dict[str, Any]) -> None:
    expect_kept(told, {"ram", "state"})


def test_a_clone_goes_on_and_is_who_it_was_told_to_be(told: dict[str, Any]) -> None:
    expect_clone(told, "clone", 7)


@pytest.mark.parametrize("name", ["clones", "served", "beside", "diff_clones"])
def test_clones_are_ready_and_all_different(told: dict[str, Any], name: str) -> None:
    assert expect_clones(told, name)


def test_what_each_part_of_a_clone_takes(told: dict[str, Any], table: Table) -> None:
    hand_over_clones(
        told, {"mapped": "clones", "page server: one without working set, others with it": "served"}, table
    )


def test_a_page_server_has_the_working_set_ahead_from_the_second_clone_on(told: dict[str, Any]) -> None:
    first, *others = the(told, "served")["boots"]
    said = [next(remark for remark in one["remarks"] if "page server" in remark) for one in (first, *others)]
    print("\n".join(said))
    assert "working set from now on" in said[0]
    assert all("of the working set brought ahead" in one for one in said[1:])


def test_a_diff_snapshot_is_whole(told: dict[str, Any]) -> None:
    full, diff = the(told, "keep"), the(told, "diff_keep")
    assert diff["bytes"]["ram"] == full["bytes"]["ram"]
    print(f"on disk: full {full['bytes_on_disk']}, diff {diff['bytes_on_disk']}")


def test_a_disk_that_is_mounted_goes_with_it(told: dict[str, Any]) -> None:
    expect_disks_taken_up(told)


def test_what_is_not_that_machine_is_refused(told: dict[str, Any]) -> None:
    expect_others_refused(told)


def test_one_that_is_not_told_goes_on_as_if_it_had_never_been_kept(told: dict[str, Any]) -> None:
    expect_untold_goes_on(told)
