"""Kernel techniques against a real source tree: every option exists and is granted, one on top of the other."""

import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.source.configure import configure, read_option_kinds
from bootlab.build.source.origin import SourceTree, require_source
from bootlab.build.source.toolchain import require_toolchain
from bootlab.build.workshop import Workshop
from bootlab.system import Booted, Kernel, KernelBuild, Machine, MachineType, System
from bootlab.techniques.kernel.network import PATCH
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.technique import Layer, Technique

pytestmark = [pytest.mark.kernel, pytest.mark.network]
PACKAGE = KernelBuild(package="linux-source-6.12", suite="trixie")
TECHNIQUES = [technique for technique in load_catalogue() if technique.change.layer is Layer.KERNEL]
SMALLEST = {"64BIT": "y", "TTY": "y", "SERIAL_8250": "y", "SERIAL_8250_CONSOLE": "y", "BLK_DEV_INITRD": "y"}


@pytest.fixture(scope="module")
def cache() -> Cache:
    """The user's cache: the source is fetched and unpacked once a machine."""
    return Cache.default()


@pytest.fixture(scope="module")
def source(cache: Cache) -> SourceTree:
    return require_source(Workshop(cache), PACKAGE)


def system(base: str, options: dict[str, str]) -> System:
    build = KernelBuild(package=PACKAGE.package, suite=PACKAGE.suite, base=base, options=options)
    return System(
        name="survives",
        machine=Machine(type=MachineType.MICROVM, memory_mib=128, options={"acpi": "off"}),
        kernel=Kernel(build=build, cmdline="console=ttyS0"),
        booted=Booted(mark="ready"),
    )


def configured(value: System, source: SourceTree, cache: Cache) -> Mapping[str, str]:
    assert value.kernel.build is not None
    # Raises where an option that was asked for is not granted.
    return configure(Workshop(cache), value.kernel.build, source, require_toolchain("x86_64")).options


def stacked(value: System, techniques: Iterable[Technique], config: Mapping[str, str]) -> tuple[System, list[str]]:
    measured = Measured({}, {}, {}, "", config)
    names = []
    for technique in techniques:
        if technique.change.applies(value, measured) is None:
            value = technique.change.apply(value, measured)
            names.append(technique.name)
    return value, names


def test_a_default_configuration_grants_them_all(source: SourceTree, cache: Cache) -> None:
    base = system("x86_64_defconfig", {})
    sparing = [technique for technique in TECHNIQUES if not technique.change.adds]
    value, names = stacked(base, sparing, configured(base, source, cache))
    assert len(names) >= 50
    final = configured(value, source, cache)
    for option in ("SMP", "MODULES", "PCI", "ACPI", "FTRACE", "PRINTK", "CPU_MITIGATIONS", "SYSFS", "PROC_FS"):
        assert option not in final


@pytest.mark.parametrize(("suite", "package"), [("bookworm", "linux-source-6.1"), ("trixie", "linux-source-6.12")])
def test_a_distributions_configuration_grants_them_all(suite: str, package: str, cache: Cache) -> None:
    build = KernelBuild(package=package, suite=suite, config_package="linux-image-cloud-amd64")
    base = system("x86_64_defconfig", {}).with_part("kernel", build=build)
    source = require_source(Workshop(cache), build)
    kinds = read_option_kinds(source, cache)
    # What only newer kernels have is refused by name: SLUB_TINY is of 6.2.
    there = [one for one in TECHNIQUES if not one.change.adds and (set(one.change.options) & set(kinds))]
    # A trial asks it of the kernel that the others have left; here it would be told of this one's modules.
    alone = [one for one in there if one.name == "kernel_modules_off"]
    config = configured(base, source, cache)
    value, names = stacked(base, [one for one in there if one not in alone], config)
    assert {"kernel_sysfs_off", "kernel_debug_checks_off", "kernel_small_tables"} <= set(names)
    final = configured(value, source, cache)
    for option in ("SYSFS", "SECURITY", "AUDIT", "SLUB_DEBUG", "CPU_MITIGATIONS", "RETHUNK", "BASE_FULL"):
        assert option not in final
    assert "m" not in configured(stacked(base, alone, config)[0], source, cache).values()


def test_the_smallest_configuration_grows_by_each_feature(source: SourceTree, cache: Cache) -> None:
    base = system("tinyconfig", SMALLEST)
    adding = [technique for technique in TECHNIQUES if technique.change.adds]
    # What needs another one comes after it.
    adding.sort(key=lambda technique: technique.name == "kernel_add_ip_pnp")
    value, names = stacked(base, adding, configured(base, source, cache))
    assert len(names) == len(adding)
    final = configured(value, source, cache)
    for option in ("SMP", "MODULES", "VIRTIO_BLK", "EXT4_FS", "INET", "IP_PNP", "CGROUPS", "SYSFS", "FUTEX"):
        assert final[option] == "y"


def test_every_option_is_known_to_the_tree(source: SourceTree, cache: Cache) -> None:
    kinds = read_option_kinds(source, cache)
    bare = Measured({}, {}, {}, "")
    base = system("tinyconfig", {})
    for technique in TECHNIQUES:
        if technique.change.applies(base, bare) is None:
            build = technique.change.apply(base, bare).kernel.build
            assert build is not None
            wanted = {option for option, value in build.options.items() if value != "n"}
            assert wanted <= set(kinds), technique.name


def test_the_patch_applies(source: SourceTree) -> None:
    with PATCH.open() as text:
        done = subprocess.run(
            ["patch", "-p1", "--dry-run", "--directory", str(Path(source.tree))],
            stdin=text,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout
