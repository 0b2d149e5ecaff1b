"""Symbols that a user brings for a guest's program: taken for the very same build, and for nothing else."""

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from bootlab.build.formats import cpio
from bootlab.errors import InputError
from bootlab.system import Booted, Disk, Kernel, Machine, MachineType, System
from bootlab.targets.qemu.guest_programs import find_programs

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or any(shutil.which(tool) is None for tool in ("cc", "strip", "objcopy")),
    reason="needs cc and binutils, and an x86-64 host",
)
SYSTEM = System(
    name="pc",
    machine=Machine(type=MachineType.Q35),
    kernel=Kernel(package="linux-image-cloud-amd64"),
    booted=Booted(mark="ready"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `initramfs`, in which /bin/tool is stripped; `tool`, `tool.debug`; `other/tool`, another build."""
    folder = tmp_path_factory.mktemp("guest")
    (folder / "other").mkdir()
    (folder / "tool.c").write_text("int work(int n) { return n * 3; } int main(int n, char **v) { return work(n); }\n")
    commands = (
        "cc -O0 -Wl,--build-id -o tool tool.c",
        "cc -O0 -Wl,--build-id -DOTHER -Dwork=elsewhere -o other/tool tool.c",
        "strip -o stripped tool",
        "objcopy --only-keep-debug tool tool.debug",
    )
    for command in commands:
        subprocess.run(command.split(), cwd=folder, check=True)
    entries = [cpio.Entry("bin", 0o40755), cpio.Entry("bin/tool", 0o100755, (folder / "stripped").read_bytes())]
    (folder / "initramfs").write_bytes(cpio.write(entries))
    return folder


def given(*paths: Path) -> list[tuple[Path, bytes]]:
    return [(path, path.read_bytes()) for path in paths]


@pytest.mark.parametrize("name", ["tool", "tool.debug"])
def test_a_program_s_own_build_names_its_functions(folder: Path, name: str) -> None:
    alone, _ = find_programs(SYSTEM, folder / "initramfs", [], {})
    assert alone["/bin/tool"].functions == ()
    found, warnings = find_programs(SYSTEM, folder / "initramfs", given(folder / name), {})
    assert {"work", "main"} <= {name for _, _, name in found["/bin/tool"].functions}
    assert list(found) == ["/bin/tool"] and warnings == ()


def test_another_build_of_the_same_name_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match=r"other/tool: symbols of another build than /bin/tool") as caught:
        find_programs(SYSTEM, folder / "initramfs", given(folder / "other" / "tool"), {})
    assert caught.value.hint is not None and "before it was stripped" in caught.value.hint


def test_a_program_that_the_guest_has_not_got_is_refused(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "tool", tmp_path / "unknown")
    found, _ = find_programs(SYSTEM, folder / "initramfs", given(tmp_path / "unknown"), {})
    assert {"work"} <= {name for _, _, name in found["/bin/tool"].functions}, "whatever the file is called"
    shutil.copy(folder / "other" / "tool", tmp_path / "unknown")
    with pytest.raises(InputError, match="unknown: symbols of no program that this system's initramfs has"):
        find_programs(SYSTEM, folder / "initramfs", given(tmp_path / "unknown"), {})


def test_what_lies_on_a_disk_is_believed_and_warned_of(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "other" / "tool", tmp_path / "server")
    system = SYSTEM.model_copy(update={"disks": (Disk(path=tmp_path / "root.img"),)})
    found, warnings = find_programs(system, folder / "initramfs", given(tmp_path / "server"), {})
    assert {"elsewhere"} <= {name for _, _, name in found["server"].functions}
    assert len(warnings) == 1 and "cannot be compared" in warnings[0]
