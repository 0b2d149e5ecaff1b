"""An initramfs with fewer modules: what is needed stays, and how it is compressed; what cannot be done is refused."""

from collections.abc import Callable

import pytest

from bootlab.build.formats import cpio
from bootlab.build.formats.compress import compress, compression_of
from bootlab.build.image.pruned_archive import prune_archive
from bootlab.build.root import archive_check
from bootlab.build.root.file_tree import FileTree
from bootlab.errors import InputError
from bootlab.system import Compression

Module = Callable[..., bytes]
FOLDER = "usr/lib/modules/6.1.0-test/kernel/drivers"


def tree_of(module: Module, *names: tuple[str, str]) -> bytes:
    tree = FileTree()
    tree.add_file("init", b"#!/bin/sh\n", 0o755)
    for name, needs in names:
        tree.add_file(f"{FOLDER}/{name}.ko", module(depends=needs))
    return cpio.write(tree.entries())


def names_in(archive: bytes) -> set[str]:
    entries = archive_check.entries(archive)
    assert entries is not None
    return {entry.path.rpartition("/")[2] for entry in entries if entry.data}


MODULES = (("virtio_ring", ""), ("virtio", "virtio_ring"), ("virtio-blk", "virtio"), ("nvme", ""))


@pytest.mark.parametrize("how", [Compression.NONE, Compression.GZIP, Compression.ZSTD, Compression.XZ, Compression.LZ4])
def test_what_is_kept_with_what_it_needs_compressed_as_it_was(how: Compression, module: Module) -> None:
    pruned = prune_archive(compress(tree_of(module, *MODULES), how), ["virtio_blk"])
    assert names_in(pruned) == {"init", "virtio_ring.ko", "virtio.ko", "virtio-blk.ko"}
    assert (compression_of(pruned) or Compression.NONE) is how


def test_archives_behind_each_other_become_one(module: Module) -> None:
    # As Debian 13 makes it: what is compressed already in front, plain.
    whole = tree_of(module, ("nvme", ""), ("virtio", "")) + bytes(512) + compress(tree_of(module), Compression.ZSTD)
    pruned = prune_archive(whole, ["virtio"])
    assert compression_of(pruned) is Compression.ZSTD and names_in(pruned) == {"init", "virtio.ko"}


def test_what_cannot_be_cut_down(module: Module) -> None:
    early = FileTree()
    early.add_file("kernel/x86/microcode/AuthenticAMD.bin", b"code")
    with pytest.raises(InputError, match="holds kernel/x86/microcode.*, which has to lie in front"):
        prune_archive(cpio.write(early.entries()) + compress(tree_of(module), Compression.ZSTD), [])
    with pytest.raises(InputError, match='^image.keep_modules: there is no module "xfs"'):
        prune_archive(tree_of(module, *MODULES), ["xfs"])
    with pytest.raises(InputError, match="image.keep_modules: the initramfs on the image has a form"):
        prune_archive(b"hsqs" + bytes(600), [])
