"""Kernel techniques against real configurations: each is granted, and declares the worst of all that goes with it.

Debian's cloud kernels and the kernels of our examples. kconfiglib answers for all techniques in seconds; that the
tree's own kconfig grants them is in test_survives.py.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.source.configure import configure, read_option_kinds
from bootlab.build.source.option_dependencies import KconfigTree, load_kconfig
from bootlab.build.source.origin import require_source
from bootlab.build.source.toolchain import require_toolchain
from bootlab.build.workshop import Workshop
from bootlab.system import Booted, Kernel, KernelBuild, Machine, MachineType, System, read_system
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.option_risks import losses, worst
from bootlab.techniques.model.technique import Layer, Risk, Technique

pytestmark = [pytest.mark.kernel, pytest.mark.network]
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
TECHNIQUES = [technique for technique in load_catalogue() if technique.change.layer is Layer.KERNEL]
# What techniques ask of a kernel that has a patch, or is built from nothing: not of these trees.
NOT_OF_THESE = {"kernel_ipconfig_no_wait", "kernel_reduced"}
HARMLESS = {
    "CRYPTO_JITTERENTROPY_MEMSIZE_2", "DEBUG_INFO_COMPRESSED_NONE", "RCU_CPU_STALL_TIMEOUT",
    "RCU_EXP_CPU_STALL_TIMEOUT", "RCU_TRACE",
}  # fmt: skip
"""Options with a prompt that a technique without risk may take away: nobody asks a kernel for them by themselves."""


@dataclass(frozen=True)
class Ground:
    """A configuration, and systems with it: a technique is looked at where it applies."""

    tree: KconfigTree
    kinds: Mapping[str, str]
    systems: tuple[System, ...]
    values: Mapping[str, str]

    def asked(self, technique: Technique) -> dict[str, str] | None:
        """Return what a technique asks for, None where it applies to none of the systems."""
        measured = Measured({}, {}, {}, "", self.values)
        for one in self.systems:
            if technique.change.applies(one, measured) is None:
                build = technique.change.apply(one, measured).kernel.build
                assert build is not None
                before = one.kernel.build.options if one.kernel.build is not None else {}
                return {option: value for option, value in build.options.items() if before.get(option) != value}
        return None


def on_a_pc(package: str, suite: str) -> tuple[System, ...]:
    """Return PCs with Debian's cloud kernel, with and without buses, addresses by the kernel, and disks."""
    build = KernelBuild(package=package, suite=suite, config_package="linux-image-cloud-amd64")
    bare = System(
        name="pc",
        machine=Machine(type=MachineType.MICROVM, memory_mib=128, options={"acpi": "off"}),
        kernel=Kernel(build=build, cmdline="console=ttyS0"),
        booted=Booted(mark="ready"),
    )
    return bare, bare.with_cmdline("ip=dhcp"), bare.with_part("machine", type=MachineType.Q35, options={})


def of_example(name: str) -> tuple[System, ...]:
    return (read_system(EXAMPLES / name),)


GROUNDS = {
    "debian-12": on_a_pc("linux-source-6.1", "bookworm"),
    "debian-13": on_a_pc("linux-source-6.12", "trixie"),
    "microvm": of_example("microvm.toml"),
    "embedded": of_example("embedded.toml"),
    "camera-board": of_example("camera-board.toml"),
    "riscv-board": of_example("riscv-board.toml"),
}


@pytest.fixture(scope="module", params=GROUNDS)
def ground(request: pytest.FixtureRequest) -> Iterator[Ground]:
    systems = GROUNDS[request.param]
    cache = Cache.default()
    shop, build, toolchain = Workshop(cache), systems[0].kernel.build, require_toolchain(systems[0].machine.arch)
    assert build is not None
    source = require_source(shop, build)
    configuration = configure(shop, build, source, toolchain)
    with load_kconfig(configuration.text, source, toolchain) as kconf:
        yield Ground(KconfigTree(kconf), read_option_kinds(source, cache), systems, configuration.options)


def test_each_technique_declares_the_worst_of_what_goes_with_it(ground: Ground) -> None:
    complaints = []
    for technique in TECHNIQUES:
        if (asked := ground.asked(technique)) is None:
            continue
        changes = ground.tree.changes(asked)
        after = {**ground.values, **{option: now for option, (_, now) in changes.items()}}
        lost = losses(changes, {option: value for option, value in after.items() if value != "n"})
        declared = technique.text.risk
        if worst((declared, *(one.risk for one in lost))) is not declared:
            named = ", ".join(f"{one.option} ({one.what})" for one in lost[:5])
            complaints.append(f"{technique.name}: risk {declared.value}, and it takes away {named}")
        if declared is Risk.NONE:
            gone = {option for option, (was, now) in changes.items() if now == "n" and ground.tree.has_prompt(option)}
            unknown = gone - set(technique.change.options) - set(asked) - HARMLESS
            if unknown:
                complaints.append(f"{technique.name}: risk none, and it takes away {', '.join(sorted(unknown))}")
    assert not complaints, "\n".join(complaints)


def test_each_technique_is_granted_where_it_applies(ground: Ground) -> None:
    complaints = []
    for technique in TECHNIQUES:
        if technique.name in NOT_OF_THESE or (asked := ground.asked(technique)) is None:
            continue
        # An option of newer kernels is refused by name: the row says so.
        asked = {option: value for option, value in asked.items() if option in ground.kinds}
        changes = ground.tree.changes(asked)
        got = {option: changes[option][1] if option in changes else ground.values.get(option, "n") for option in asked}
        if missing := {option for option, value in asked.items() if got[option] != value}:
            complaints.append(f"{technique.name}: {', '.join(sorted(missing))}")
    assert not complaints, "\n".join(complaints)
