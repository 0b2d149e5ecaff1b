"""Conditions out of a tree of makefiles with each form that Kbuild has, as the kernel writes them."""

from pathlib import Path

import pytest

from bootlab.build.kernel.makefiles import Makefiles, holds

FILES = {
    "Kbuild": "obj-y += kernel/ arch/x86/\nobj-$(CONFIG_NET) += net/\nobj-$(CONFIG_BLOCK) += drivers/block/\n",
    "kernel/Makefile": """
obj-y = fork.o \\
	exec.o
obj-$(CONFIG_FUTEX) += futex/
obj-$(CONFIG_A)-$(CONFIG_B) += odd.o
ifdef CONFIG_SMP
obj-y += smp.o
else
obj-y += up.o
endif
ifeq ($(CONFIG_TRACING),y)
  ifneq ($(CONFIG_FTRACE),)
	obj-y += ftrace.o
  endif
else ifeq ($(CONFIG_PROFILING),y)
obj-y += profile.o
endif
ifeq ($(BITS),32)
obj-y += compat32.o
endif
obj-$(CONFIG_SELFTEST) += $(if $(CONFIG_PREEMPT),preempt.o,coop.o)
obj-y += $(addprefix rcu/,tree.o)
""",
    "kernel/futex/Makefile": "obj-y += core.o\nobj-$(CONFIG_PI) += pi.o\n",
    "net/Makefile": """
obj-y += core.o
obj-$(CONFIG_IPV6) += ipv6.o
ipv6-objs := af.o $(ipv6-offload)
ipv6-$(CONFIG_MROUTE) += mroute.o
ipv6-offload := tcp6.o
obj-$(CONFIG_CHECKED) += core.o
""",
    "arch/x86/Kbuild": "obj-y += kernel/\n",
    "arch/x86/Makefile": "drivers-$(CONFIG_PCI) += arch/x86/pci/\n",
    "arch/x86/kernel/Makefile": "obj-$(CONFIG_ACPI) += acpi/\nobj-y += head.o\n",
    "arch/x86/kernel/acpi/Makefile": "obj-y += boot.o\n",
    "arch/x86/pci/Makefile": "obj-y += i386.o\n",
    "lib/Makefile": "lib-y := string.o\nlib-$(if $(CONFIG_QUIET),,y) += selftest.o\n",
    "drivers/block/Makefile": "obj-$(CONFIG_LOOP)\t+= loop.o # the loop device\n",
}


@pytest.fixture
def makefiles(tmp_path: Path) -> Makefiles:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Makefiles(tmp_path, "x86")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("kernel/fork.o", [set()]),
        ("kernel/exec.o", [set()]),
        ("kernel/futex/core.o", [{"FUTEX"}]),
        ("kernel/futex/pi.o", [{"FUTEX", "PI"}]),
        ("kernel/smp.o", [{"SMP"}]),
        ("kernel/up.o", [{"!SMP"}]),
        ("kernel/ftrace.o", [{"TRACING", "FTRACE"}]),
        ("kernel/profile.o", [{"!TRACING", "PROFILING"}]),
        ("kernel/compat32.o", [{"never"}]),
        ("kernel/preempt.o", [{"SELFTEST", "PREEMPT"}]),
        ("kernel/coop.o", [{"SELFTEST", "!PREEMPT"}]),
        ("kernel/rcu/tree.o", [set()]),
        ("net/af.o", [{"NET", "IPV6"}]),
        ("net/mroute.o", [{"NET", "IPV6", "MROUTE"}]),
        ("net/tcp6.o", [{"NET", "IPV6"}]),
        ("net/core.o", [{"NET"}]),
        ("arch/x86/kernel/head.o", [set()]),
        ("arch/x86/kernel/acpi/boot.o", [{"ACPI"}]),
        ("arch/x86/pci/i386.o", [{"PCI"}]),
        ("lib/string.o", [set()]),
        ("lib/selftest.o", [{"!QUIET"}]),
        ("drivers/block/loop.o", [{"BLOCK", "LOOP"}]),
        ("kernel/nobody.o", []),
    ],
)
def test_conditions(makefiles: Makefiles, path: str, expected: list[set[str]]) -> None:
    assert [set(one) for one in makefiles.conditions(path)] == expected


def test_holds() -> None:
    assert holds(frozenset({"NET", "!SMP"}), {"NET"})
    assert not holds(frozenset({"NET", "!SMP"}), {"NET", "SMP"})
    assert not holds(frozenset({"NET"}), set())
    assert holds(frozenset(), set())
