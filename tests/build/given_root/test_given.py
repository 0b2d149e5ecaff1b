"""What is taken as a root, and what identifies one."""

import gzip
import os
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.given_root.given import find_root, names_root
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from tests.build.given_root.images import ELF_X86_64, Layout, config, docker_save, tar


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(Cache(tmp_path / "cache"))


def test_roots_are_recognised_by_what_is_in_them(tmp_path: Path) -> None:
    layers = [tar({"bin/sh": ELF_X86_64})]
    layout = Layout(tmp_path / "layout")
    layout.write(layout.image(layers, config(layers)))
    (tmp_path / "root/usr/bin").mkdir(parents=True)
    (tmp_path / "packed").write_bytes(gzip.compress(layers[0]))
    docker_save(tmp_path / "saved", {"a": (layers, config(layers))})
    for name in ("layout", "root", "packed", "saved"):
        assert names_root(tmp_path / name), name
    (tmp_path / "disk.img.gz").write_bytes(gzip.compress(bytes(4096)))
    (tmp_path / "system.toml").write_bytes(layers[0])
    for name in ("disk.img.gz", "system.toml", "gone", "cache"):
        assert not names_root(tmp_path / name), name
    assert names_root(Path("oci:gone")) and names_root(Path("docker-archive:a.tar:b:c"))


def test_a_root_is_known_by_all_that_is_in_it(shop: Workshop, tmp_path: Path) -> None:
    folder = tmp_path / "root"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/sh").write_bytes(b"1")
    first = find_root(shop, folder).identity()
    os.utime(folder / "bin/sh", (1, 1))
    assert find_root(shop, folder).identity() == first
    (folder / "bin/sh").chmod(0o4755)
    second = find_root(shop, folder).identity()
    os.setxattr(folder / "bin/sh", "user.mine", b"x")
    third = find_root(shop, folder).identity()
    (folder / "bin/sh").write_bytes(b"2")
    assert len({first, second, third, find_root(shop, folder).identity()}) == 4


def test_an_archive_that_ends_early_is_told(shop: Workshop, tmp_path: Path) -> None:
    archive = tmp_path / "root.tar"
    archive.write_bytes(tar({"a": b"1"})[:1024])
    assert find_root(shop, archive).read().remarks == (
        "it ends without the mark of a tar archive's end: something may have been cut off",
    )
    with pytest.raises(InputError, match="no container image, so there is no 'x' in it"):
        type(find_root(shop, archive))(shop, archive, "x").read()


def test_a_path_may_have_colons_as_the_name_behind_it(shop: Workshop, tmp_path: Path) -> None:
    layers = [tar({"a": b"1"})]
    saved = docker_save(tmp_path / "a:b.tar", {"host:5000/x:1": (layers, config(layers))})
    root = find_root(shop, Path(f"docker-archive:{saved}:host:5000/x:1"))
    assert (root.path, root.choice) == (saved, "host:5000/x:1") and root.read().image.startswith("host:5000/x:1")
    assert find_root(shop, Path(f"docker-archive:{saved}")).choice is None
