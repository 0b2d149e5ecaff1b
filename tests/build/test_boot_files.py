"""From a System to its files: what is refused before a boot, by key, and what stands in the record."""

from pathlib import Path

import pytest

from bootlab.build.boot_files import prepare
from bootlab.build.cache import Cache, file_sha256
from bootlab.build.formats import cpio
from bootlab.build.formats.compress import compress
from bootlab.build.root.file_tree import FileTree
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.system import Compression, System, read_system

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def _shop(folder: Path) -> Workshop:
    return Workshop(Cache(folder / "cache"))


def _system(folder: Path, **kernel: object) -> System:
    tree = FileTree()
    tree.add_file("init", b"#!/bin/sh\n" * 1000, 0o755)
    (folder / "initramfs.gz").write_bytes(compress(cpio.write(tree.entries()), Compression.GZIP))
    return System.model_validate(
        {
            "name": "test",
            "machine": {"type": "q35"},
            "kernel": {"image": folder / "kernel", **kernel},
            "initramfs": {"path": folder / "initramfs.gz"},
            "disks": [{"size_mib": 8}],
            "booted": {"mark": "ready"},
        }
    )


def _arm64_image() -> bytes:
    # Documentation/arch/arm64/booting.rst: magic at 56, image size at 16.
    header = bytearray(64)
    header[16:24] = (1 << 16).to_bytes(8, "little")
    header[56:60] = b"ARM\x64"
    return bytes(header) + b"Linux version 6.1.0-test (x) " + bytes((1 << 16) - 64 - 29)


def test_every_input_is_there_and_hashed(tmp_path: Path) -> None:
    (tmp_path / "kernel").write_bytes(_arm64_image())
    system = _system(tmp_path).with_part("machine", type="virt")
    files = prepare(_shop(tmp_path), system)
    assert files.kernel == tmp_path / "kernel"
    assert files.vmlinux is not None and files.vmlinux.read_bytes() == _arm64_image()
    assert files.initramfs is not None
    assert files.hashes == {
        "kernel": file_sha256(files.kernel),
        "initramfs": file_sha256(files.initramfs),
        "disk0": file_sha256(files.disks[0]),
    }
    assert prepare(_shop(tmp_path), system) == files


def test_a_kernel_for_another_architecture_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kernel").write_bytes(_arm64_image())
    with pytest.raises(InputError, match=r"kernel\.image: .*aarch64.*x86_64"):
        prepare(_shop(tmp_path), _system(tmp_path))


def test_what_is_no_kernel_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kernel").write_bytes(b"text\n" * 1000)
    with pytest.raises(InputError, match=r"kernel\.image: "):
        prepare(_shop(tmp_path), _system(tmp_path))
    (tmp_path / "kernel").unlink()
    with pytest.raises(InputError, match=r"kernel\.image: "):
        prepare(_shop(tmp_path), _system(tmp_path))


def test_a_truncated_initramfs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kernel").write_bytes(_arm64_image())
    system = _system(tmp_path).with_part("machine", type="virt")
    whole = (tmp_path / "initramfs.gz").read_bytes()
    (tmp_path / "initramfs.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"initramfs\.path: .*cut short"):
        prepare(_shop(tmp_path), system)
    (tmp_path / "initramfs.gz").write_bytes(b"a form of one's own")
    assert prepare(_shop(tmp_path), system).initramfs == tmp_path / "initramfs.gz"


@pytest.mark.network
@pytest.mark.kernel
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("debian-*.toml")), ids=lambda path: path.stem)
def test_the_examples_can_be_made(path: Path) -> None:
    system = read_system(path)
    files = prepare(Workshop(Cache.default()), system)
    assert files.vmlinux is not None
    assert files.initramfs is not None and files.initramfs.stat().st_size < 6_000_000
    disks = {"rootfs"} if system.rootfs is not None else {"disk0"}
    assert set(files.hashes) == {"kernel", "initramfs"} | disks
