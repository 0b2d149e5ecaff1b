"""Kernels that cannot be had with the options asked for: a step that failed, not the end of a tailoring."""

import shutil
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.source.make import BuildFailed
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.experiments.tailor.kernel_use import Use
from bootlab.experiments.tailor.kernels import Kernels
from bootlab.experiments.tailor.unused_options import Drop
from bootlab.system import KernelBuild, System
from tests.build.kernel.test_build import make_tree

pytestmark = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in ("make", "gcc", "objcopy", "flex", "bison", "bc"))
    or not Path("/usr/include/gelf.h").exists(),
    reason="needs what kernels are built with: make setup-build",
)


@pytest.fixture
def kernels(tmp_path: Path) -> Kernels:
    """Of a source that make really builds, whose kconfig keeps STUBBORN on whatever is asked."""
    return make_kernels(tmp_path, ("EXPERT", "VMLINUX_MAP", "STUBBORN", "BROKEN"))


def make_kernels(tmp_path: Path, options: tuple[str, ...]) -> Kernels:
    tree = make_tree(tmp_path / "linux")
    more = "".join(f'config {name}\n\tbool "{name}"\n' for name in options)
    (tree / "Kconfig").write_text((tree / "Kconfig").read_text() + more)
    makefile = (tree / "Makefile").read_text()
    makefile = makefile.replace(
        "olddefconfig:\n", "olddefconfig:\n\tsed -i 's/# CONFIG_STUBBORN is not set/CONFIG_STUBBORN=y/' $(O)/.config\n"
    )
    makefile = makefile.replace("bzImage: vmlinux\n", "bzImage: vmlinux\n\t! grep -q CONFIG_BROKEN=y $(O)/.config\n")
    (tree / "Makefile").write_text(makefile)
    build = KernelBuild(source=tree, base="tinyconfig", options={"STUBBORN": "y"})
    system = System.model_validate(
        {
            "name": "test",
            "machine": {"type": "microvm"},
            "kernel": {"build": dict(build)},
            "initramfs": {"init": tree / "Makefile"},
            "booted": {"mark": "ready"},
        }
    )
    return Kernels(Workshop(Cache(tmp_path / "cache")), system, build)


def drop(option: str, value: str) -> Drop:
    return Drop(option, (), (), (), 0, 0, Use.NEVER, value)


def test_what_kconfig_refuses_and_what_does_not_build_has_a_reason(kernels: Kernels) -> None:
    refused = kernels.build(kernels.with_options({"STUBBORN": "n"}), "cut 1")
    assert isinstance(refused, str) and "CONFIG_STUBBORN=n did not survive" in refused
    broken = kernels.build(kernels.with_options({"BROKEN": "y"}), "cut 2")
    assert isinstance(broken, str) and broken.startswith("make ") and "\n" not in broken
    assert kernels.count == 0
    assert not isinstance(kernels.build(kernels.with_options({}), "cut 3"), str)
    assert kernels.count == 1


def test_a_first_kernel_that_does_not_build_is_the_user_s(kernels: Kernels) -> None:
    with pytest.raises(BuildFailed, match=r"kernel.build: the kernel as it is does not build, before anything"):
        kernels.first(kernels.with_options({"BROKEN": "y"}), "as it is")


def test_kconfig_grants_one_after_the_other(kernels: Kernels) -> None:
    config = "CONFIG_SMP=y\nCONFIG_NUMA=y\nCONFIG_EXPERT=y\n"
    wanted = [drop("SMP", "n"), drop("NUMA", "n"), drop("LOST", "y"), drop("EXPERT", "y")]
    assert [one.option for one in kernels.granted(config, wanted)[0]] == ["SMP", "LOST"]


def test_a_kernel_whose_code_finds_no_object(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Linux 6.12.0 cannot have VMLINUX_MAP"):
        make_kernels(tmp_path, ("EXPERT", "STUBBORN"))
