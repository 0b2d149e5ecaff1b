"""What a profiled boot is told: its files, and files of symbols that are of no use."""

import re
import shutil
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.formats import ext4
from bootlab.build.formats.cpio import Entry
from bootlab.errors import InputError, MissingTool
from bootlab.profile.asked.profiling import FUNCTIONS, KernelFacts, make_profile_config
from bootlab.profile.asked.request import MOST_VCPUS, ProfileRequest
from bootlab.profile.recorded.about import AboutProfile, read_about
from bootlab.system import Booted, BootFiles, Disk, Kernel, Machine, MachineType, Rootfs, System
from bootlab.targets.qemu import profile_setup
from bootlab.targets.qemu.argv import qemu_argv
from bootlab.targets.qemu.profile_setup import ProfileSetup, list_disk_files, set_up_profile, write_profile_config
from bootlab.targets.qemu.wiring import PluginFiles, Wiring

FACTS = KernelFacts(((0x1000, "-", "start"), (0x2000, "end", "end")), {"switch": 0x1000}, {}, {0x1000: "late"}, ())
ABOUT_IT = AboutProfile({0x1000: "late"}, ("no types",), "zstd")
SYSTEM = System(
    name="pc",
    machine=Machine(type=MachineType.Q35),
    kernel=Kernel(package="linux-image-cloud-amd64"),
    booted=Booted(mark="ready"),
)


def test_files_and_lines(tmp_path: Path) -> None:
    setup = ProfileSetup(make_profile_config(FACTS, span_ns=7), ("cutlines",), ABOUT_IT)
    lines = write_profile_config(setup, tmp_path).splitlines()
    assert lines[0] == f"functions {tmp_path / FUNCTIONS}"
    assert {"hook switch 1000", "span 7", "cutlines"} <= set(lines)
    assert (tmp_path / FUNCTIONS).read_text().startswith("bootlab-functions 1\n1000 - start\n")
    assert read_about(tmp_path) == ABOUT_IT


def test_the_profile_is_one_more_word_for_the_plugin() -> None:
    files = BootFiles(kernel=Path("bzImage"))
    plugin = PluginFiles(Path("p.so"), Path("c"), Path("o"), Path("a,b/profile.bin"))
    argv = qemu_argv(SYSTEM, files, Wiring(Path("q"), plugin=plugin))
    assert argv[-1] == "p.so,config=c,out=o,profile=a,,b/profile.bin"


def test_a_kernel_without_symbols_is_refused_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no symbols of this kernel") as caught:
        set_up_profile(SYSTEM, BootFiles(kernel=tmp_path / "k"), None, Cache(tmp_path), ProfileRequest())
    assert "--symbols" in (caught.value.hint or "")


def test_more_vcpus_than_the_plugin_follows_are_refused_by_their_key(tmp_path: Path) -> None:
    header = (Path(__file__).parents[3] / "plugin" / "profile" / "profile.h").read_text()
    assert f"PROFILE_VCPUS_MAX = {MOST_VCPUS} " in header
    system = SYSTEM.with_part("machine", vcpus=MOST_VCPUS + 1)
    with pytest.raises(InputError, match=r"^machine.vcpus: 65, and a profile takes at most 64"):
        set_up_profile(system, BootFiles(kernel=tmp_path / "k"), None, Cache(tmp_path), ProfileRequest())


@pytest.mark.skipif(shutil.which("debugfs", path="/usr/sbin:/sbin:/usr/bin:/bin") is None, reason="needs e2fsprogs")
def test_files_of_modelled_ext4_disks_are_listed_and_what_cannot_be_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image, blank = tmp_path / "root", tmp_path / "blank"
    ext4.make_from([Entry("motd", 0o100644, b"hello")], image, None, journal=False)
    blank.write_bytes(bytes(4096))
    models = [Disk(size_mib=1, model="sd"), Disk(size_mib=1)]  # type: ignore[arg-type]
    system = SYSTEM.model_copy(update={"rootfs": Rootfs(path=image, model="hdd"), "disks": models})  # type: ignore[arg-type]
    files = BootFiles(kernel=tmp_path / "k", disks=(image, blank, image))
    text, unread = list_disk_files(system, files)
    assert re.search(r"^rootfs \d+ 8 /motd$", text, re.MULTILINE) and "disk0" not in text and "disk1" not in text
    assert unread == ()

    def lacks(path: Path) -> None:
        raise MissingTool("debugfs is not here")

    monkeypatch.setattr(profile_setup, "read_places", lacks)
    assert list_disk_files(system, files) == (
        "",
        ("which files rootfs was asked for is not known: debugfs is not here",),
    )
