"""The cut on a small kernel: five objects, one Kconfig tree, every reason to drop and to keep."""

from pathlib import Path

import pytest

from bootlab.build.kernel.makefiles import Makefiles
from bootlab.build.kernel.objects import KernelObject, KernelObjects
from bootlab.build.source.option_dependencies import KconfigTree, load_kconfig
from bootlab.build.source.origin import SourceTree
from bootlab.build.source.toolchain import require_toolchain
from bootlab.experiments.tailor.ifdef_use import Guarded
from bootlab.experiments.tailor.kernel_use import FunctionUse, KernelUse, Use
from bootlab.experiments.tailor.protected import Policy
from bootlab.experiments.tailor.unused_options import Cut, KernelEvidence, find_cut
from bootlab.system import System

KCONFIG = """
mainmenu "Test"
config DRIVER
	bool "driver"
config BUS
	bool "bus"
config DISK
	bool "disk"
	depends on BUS
config FUTEX
	bool "futex"
config EXT4
	bool "file system"
	select LIBRARY
config LIBRARY
	bool
config SECCOMP
	bool "seccomp"
	depends on FILTER
config FILTER
	bool "filter"
config MULTIUSER
	bool "users and groups"
config NFS
	bool "network file system"
	depends on MULTIUSER
config STATS
	bool "statistics"
config INNER
	bool "code inside of a file"
config UNSEEN
	bool "nothing is known of it"
choice
	prompt "preemption"
config NONE
	bool "none"
endchoice
"""
MAKEFILE = """
obj-y += main.o
obj-$(CONFIG_DRIVER) += driver.o
obj-$(CONFIG_BUS) += bus.o
obj-$(CONFIG_DISK) += disk.o
obj-$(CONFIG_FUTEX) += futex.o
obj-$(CONFIG_EXT4) += ext4.o
obj-$(CONFIG_LIBRARY) += library.o
obj-$(CONFIG_SECCOMP) += seccomp.o
obj-$(CONFIG_FILTER) += filter.o
obj-$(CONFIG_MULTIUSER) += groups.o
obj-$(CONFIG_NFS) += nfs.o
"""
USES = {
    "main": Use.JOB,
    "driver": Use.INITCALL,
    "bus": Use.EARLY,
    "disk": Use.NEVER,
    "futex": Use.ASIDE,
    "ext4": Use.JOB,
    "library": Use.NEVER,
    "seccomp": Use.NEVER,
    "filter": Use.NEVER,
    "groups": Use.JOB,
    "nfs": Use.JOB,
}
SYSTEM = System.model_validate(
    {
        "name": "test",
        "machine": {"type": "microvm"},
        "kernel": {"package": "linux-image"},
        "booted": {"mark": "ready"},
    }
)


def cut(
    tmp_path: Path,
    policy: Policy,
    *,
    deepest: Use = Use.ASIDE,
    needed: tuple[str, ...] = (),
    nfs: Use = Use.JOB,
) -> Cut:
    uses = {**USES, "nfs": nfs}
    (tmp_path / "Kconfig").write_text(KCONFIG)
    (tmp_path / "Kbuild").write_text(MAKEFILE)
    options = "DRIVER BUS DISK FUTEX EXT4 SECCOMP FILTER MULTIUSER NFS STATS INNER UNSEEN".split()
    config = "".join(f"CONFIG_{option}=y\n" for option in options)
    with load_kconfig(config, SourceTree(tmp_path, "id", "6.12"), require_toolchain("x86_64")) as kconf:
        tree = KconfigTree(kconf)
    objects = tuple(KernelObject(f"{name}.o", f"{name}.c", frozenset(), 100) for name in uses)
    functions = tuple(
        FunctionUse(f"{name}_run", index, use, 10 * use)
        for index, (name, use) in enumerate(uses.items())
        if use is not Use.NEVER
    )
    use = KernelUse(
        KernelObjects(objects, ()), functions, tuple(uses.values()), tuple(10 * one for one in uses.values()), 0
    )
    guarded = {
        "STATS": Guarded(2, 50, 50, "account in main.c", "account in main.c"),
        "INNER": Guarded(1, 70, 0, "setup in main.c"),
    }
    return find_cut(
        tree, KernelEvidence(Makefiles(tmp_path, "x86"), use, guarded, policy, needed=needed), deepest=deepest
    )


def test_what_goes_and_what_stays(tmp_path: Path) -> None:
    found = cut(tmp_path, Policy(SYSTEM))
    drops = {drop.option: drop for drop in found.drops}
    assert set(drops) == {"DRIVER", "BUS", "FUTEX"}
    assert drops["BUS"].lost == ("DISK",)
    assert (drops["BUS"].objects, drops["BUS"].bytes, drops["BUS"].use) == (("bus.o", "disk.o"), 200, Use.EARLY)
    kept = {one.option: one for one in found.kept}
    assert kept["EXT4"].why == "executed: ext4_run in ext4.o"
    assert kept["STATS"].why == "executed: account in main.c, under #if"
    assert kept["SECCOMP"].kind == "protected" and "--give-up SECCOMP" in kept["SECCOMP"].why
    assert kept["FILTER"].kind == "protected" and "SECCOMP would go with it" in kept["FILTER"].why
    assert kept["LIBRARY"].why == "selected by EXT4"
    assert kept["NONE"].kind == "choice"
    assert {kept["INNER"].kind, kept["UNSEEN"].kind} == {"behaviour"}
    assert {one.option for one in found.kept} == found.on


@pytest.mark.parametrize(
    ("deepest", "expected"),
    [(Use.NEVER, {"DISK"}), (Use.INITCALL, {"DISK", "DRIVER"}), (Use.EARLY, {"BUS", "DRIVER"})],
)
def test_a_shallower_cut_takes_less(tmp_path: Path, deepest: Use, expected: set[str]) -> None:
    assert {drop.option for drop in cut(tmp_path, Policy(SYSTEM), deepest=deepest).drops} == expected


@pytest.mark.parametrize("name", ["SECCOMP", "access-control"])
def test_a_protection_goes_by_name(tmp_path: Path, name: str) -> None:
    found = cut(tmp_path, Policy(SYSTEM, give_up=[name]))
    whys = {drop.option: drop.why for drop in found.drops}
    assert {"SECCOMP", "FILTER"} <= set(whys)
    assert (whys["SECCOMP"], whys["FILTER"]) == ("given up by name", "")


def test_what_is_given_up_stays_for_what_the_job_uses_of_others(tmp_path: Path) -> None:
    found = cut(tmp_path, Policy(SYSTEM, give_up=["access-control"]))
    assert {"MULTIUSER", "NFS"} & {drop.option for drop in found.drops} == set()
    kept = {one.option: one for one in found.kept}
    assert kept["MULTIUSER"].why == "executed: nfs_run in nfs.o (NFS would go with it)"
    assert kept["NFS"].why == "executed: nfs_run in nfs.o"
    # What ran of the protection itself does not keep it.
    without = cut(tmp_path, Policy(SYSTEM, give_up=["access-control"]), nfs=Use.NEVER)
    drops = {drop.option: drop for drop in without.drops}
    assert (drops["MULTIUSER"].lost, drops["MULTIUSER"].why) == (("NFS",), "given up by name")


def test_what_was_asked_for_and_what_a_check_needs_stays(tmp_path: Path) -> None:
    found = cut(tmp_path, Policy(SYSTEM, keep=["DISK"]), needed=("FUTEX",))
    assert {drop.option for drop in found.drops} == {"DRIVER"}
    kept = {one.option: one.why for one in found.kept}
    assert {one.kind for one in found.kept if one.option in ("DISK", "BUS")} == {"asked"}
    assert kept["DISK"] == "asked for with --keep"
    assert kept["BUS"] == "asked for with --keep (DISK would go with it)"
    assert kept["FUTEX"] == "without it the check failed, or nothing was won"
