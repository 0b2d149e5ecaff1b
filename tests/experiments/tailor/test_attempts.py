"""Which options of a small kernel are to be tried, all at once or alone, and which never."""

import shutil
from pathlib import Path

import pytest

from bootlab.build.kernel.makefiles import Makefiles
from bootlab.build.source.option_dependencies import KconfigTree, load_kconfig
from bootlab.build.source.origin import SourceTree
from bootlab.build.source.toolchain import require_toolchain
from bootlab.experiments.tailor.attempts import Attempts, find_attempts
from bootlab.experiments.tailor.ifdef_use import Guarded
from bootlab.experiments.tailor.kernel_use import Use
from bootlab.experiments.tailor.protected import Policy
from bootlab.experiments.tailor.unused_options import KernelEvidence
from bootlab.system import System
from tests.experiments.tailor.small_kernel import COMPILER, SmallKernel, make_small_kernel

pytestmark = pytest.mark.skipif(shutil.which(COMPILER) is None, reason=f"needs {COMPILER}: make setup-build")

KCONFIG = """
mainmenu "Test"
config HOOK
	bool "called by name"
config SERVICE
	bool "called through a pointer"
config FUTEX
	bool "a system call"
config INNER
	bool "a call in a file that stays"
config NO_TESTS
	bool "leaves the tests out"
config NO_HOOK
	bool "leaves out what the job passes through"
config DRAGS
	bool "brings something else along"
	select BROUGHT
config BROUGHT
	bool
config PARENT
	bool "has a protected one below it"
config SECCOMP
	bool "seccomp"
	depends on PARENT
choice
	prompt "allocator"
config PLAIN
	bool "plain"
config SMALL
	bool "small"
endchoice
"""
MAKEFILE = """
obj-y += _start.o vfs_read.o announce.o
obj-$(CONFIG_HOOK) += hook.o
obj-$(CONFIG_SERVICE) += serve.o
obj-$(CONFIG_FUTEX) += __x64_sys_futex.o
obj-$(CONFIG_PLAIN) += alloc.o
ifneq ($(CONFIG_NO_TESTS),y)
obj-y += helper.o
endif
"""
ON = "HOOK SERVICE FUTEX INNER PARENT SECCOMP PLAIN".split()


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> SmallKernel:
    """The program, and its boot."""
    return make_small_kernel(tmp_path_factory.mktemp("program"))


def find(
    kernel: SmallKernel, folder: Path, *, needed: tuple[str, ...] = (), options: dict[str, str] | None = None
) -> tuple[Attempts, frozenset[str]]:
    (folder / "Kconfig").write_text(KCONFIG)
    (folder / "Kbuild").write_text(MAKEFILE)
    with load_kconfig(
        "".join(f"CONFIG_{option}=y\n" for option in ON), SourceTree(folder, "id", "6.12"), require_toolchain("x86_64")
    ) as kconf:
        tree = KconfigTree(kconf)
    hook = Guarded(names=frozenset({(kernel.index("hook"), "hook")}))
    guarded = {
        "INNER": Guarded(calls=frozenset({(kernel.index("announce"), "announce", "alloc")})),
        "PARENT": hook,
        "!NO_HOOK": hook,
        "!DRAGS": Guarded(names=frozenset({(kernel.index("helper"), "helper")})),
    }
    system = {
        "name": "test",
        "machine": {"type": "microvm"},
        "kernel": {"build": {"package": "linux-source-6.12", "suite": "trixie", "options": options or {}}},
        "initramfs": {"init": folder / "Kbuild"},
        "booted": {"mark": "ready"},
    }
    policy = Policy(System.model_validate(system))
    evidence = KernelEvidence(Makefiles(folder, "x86"), kernel.use, guarded, policy, needed=needed)
    return find_attempts(tree, evidence, kernel.costs), tree.on


def test_what_is_tried(kernel: SmallKernel, tmp_path: Path) -> None:
    trials, on = find(kernel, tmp_path)
    assert [(one.option, one.value, one.cost.instructions) for one in trials.at_once] == [
        ("NO_TESTS", "y", 5057),
        ("SMALL", "y", 70),
        ("INNER", "n", 40),
        ("HOOK", "n", 3),
    ]
    # What the job came to through a pointer takes an object out: the cut would have had it, had it not been the job's.
    # PARENT would take a protected one along, DRAGS brings code that nobody has seen run.
    assert [(one.option, one.value) for one in trials.alone] == [("NO_HOOK", "y")]
    assert on == {"NO_TESTS", "SMALL", "SERVICE", "FUTEX", "PARENT", "SECCOMP"}
    drops = {one.option: one.drop for one in trials.at_once}
    assert drops["NO_TESTS"].objects == ("helper.o",)
    assert drops["NO_TESTS"].why == "takes out helper by being on"
    assert drops["SMALL"].lost == ("PLAIN",)
    assert drops["HOOK"].why == "passed through by the job: of the ways into it 1 by name, 0 by a pointer"
    assert {name: drop.use for name, drop in drops.items()} == {
        **dict.fromkeys(("NO_TESTS", "SMALL", "INNER"), Use.ASIDE),
        "HOOK": Use.JOB,
    }
    assert drops["INNER"].why == "takes out code that ran outside of the job"


def test_what_a_check_needs_and_the_system_asks_for_is_not_tried(kernel: SmallKernel, tmp_path: Path) -> None:
    trials, _ = find(kernel, tmp_path, needed=("HOOK", "SMALL"), options={"INNER": "y", "NO_TESTS": "n"})
    assert [one.option for one in (*trials.at_once, *trials.alone)] == ["NO_HOOK"]
