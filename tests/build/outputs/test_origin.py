"""Which build a system's files came from, by where they lie."""

from pathlib import Path

from bootlab.build.cache import Cache
from bootlab.build.outputs.as_system import system_of_output
from bootlab.build.outputs.origin import find_origin
from bootlab.build.outputs.output import BuildTool
from bootlab.build.outputs.recognise import read_output
from bootlab.build.workshop import Workshop
from bootlab.sources import EXAMPLES
from bootlab.system import read_system
from tests.build.outputs.folders import YOCTO_IMAGE, buildroot_started, write, yocto


def test_a_system_of_a_folder_is_traced_to_it_booted_as_it_is_or_built_anew(tmp_path: Path) -> None:
    shop = Workshop(Cache(tmp_path / "cache"))
    output = read_output(buildroot_started(tmp_path / "a"))
    for rebuilt in (False, True):
        found = find_origin(system_of_output(shop, output, rebuilt=rebuilt))
        assert found is not None and found.tool is BuildTool.BUILDROOT and found.settings["BR2_ARCH"] == "x86_64"
    folder = yocto(tmp_path / "b")
    found = find_origin(system_of_output(shop, read_output(folder)))
    assert found is not None and found.settings["PREFERRED_PROVIDER_virtual/kernel"] == "linux-yocto"


def test_others_come_from_none_and_so_does_one_whose_folder_cannot_be_read(tmp_path: Path) -> None:
    assert find_origin(read_system(EXAMPLES / "debian-cloud.toml")) is None
    shop = Workshop(Cache(tmp_path / "cache"))
    folder = yocto(tmp_path)
    system = system_of_output(shop, read_output(folder))
    write(folder / f"{YOCTO_IMAGE}.testdata.json", "{")
    assert find_origin(system) is None
