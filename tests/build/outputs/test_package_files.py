"""Which package a file came from, as Buildroot and Yocto note it, and how each leaves one out."""

from pathlib import Path

import pytest

from bootlab.build.outputs.nixos import read_nixos
from bootlab.build.outputs.package_files import read_package_files
from bootlab.build.outputs.recognise import read_output
from bootlab.errors import InputError
from tests.build.outputs.folders import YOCTO_IMAGE, buildroot, write, yocto
from tests.build.outputs.test_nixos import system as nixos


def test_buildroots_list_and_switches(tmp_path: Path) -> None:
    more = "BR2_PACKAGE_BUSYBOX=y\nBR2_PACKAGE_LIB_X=y\n"
    output = buildroot(tmp_path, "bzImage", "rootfs.ext2", more=more)
    assert read_package_files(read_output(output)) is None
    lines = "busybox,./bin/busybox\nlib-x,./usr/lib/x,y.so\nskeleton,./etc/passwd\nno comma\n"
    write(output / "build/packages-file-list.txt", lines)
    found = read_package_files(read_output(output))
    assert found is not None and found.name == "packages.config" and found.kept == {"skeleton"}
    assert found.files["lib-x"] == {"/usr/lib/x,y.so"} and found.files["busybox"] == {"/bin/busybox"}
    assert found.leave_out(["lib-x", "busybox"]) == "# BR2_PACKAGE_BUSYBOX is not set\n# BR2_PACKAGE_LIB_X is not set\n"


def test_yoctos_package_data_of_what_the_image_has(tmp_path: Path) -> None:
    folder = yocto(tmp_path)
    assert read_package_files(read_output(folder)) is None
    write(folder / f"{YOCTO_IMAGE}.manifest", "dropbear core2_64 2026.1-r0\ngone core2_64 1-r0\n")
    data = 'PN: dropbear\nFILES_INFO:dropbear: {"/usr/sbin/dropbearmulti": 1, "/etc/default/dropbear": 2}\n'
    place = write(tmp_path / "tmp/pkgdata/qemux86-64/runtime/dropbear", data)
    found = read_package_files(read_output(folder))
    assert found is not None and found.name == "packages.conf"
    assert found.files == {"dropbear": {"/usr/sbin/dropbearmulti", "/etc/default/dropbear"}}
    assert found.leave_out(["dropbear"]).splitlines()[0] == 'IMAGE_INSTALL:remove = "dropbear"'
    assert found.leave_out([]) == ""
    write(place, "FILES_INFO: {x}\n")
    with pytest.raises(InputError, match="FILES_INFO is not JSON"):
        read_package_files(read_output(folder))


def test_others_keep_no_such_list(tmp_path: Path) -> None:
    assert read_package_files(read_nixos(nixos(tmp_path))) is None
