"""Fresh ext4 disk images, made without root, the same bytes on every run.

Everything that mke2fs would take from its configuration file, the clock or a random source is given; versions 1.47.0
and 1.47.2 then agree on images up to 128 MiB (one block group), and lay larger ones out differently.
"""

import os
from pathlib import Path

from bootlab.build.cache import Cache
from bootlab.process import run

_UUID = "b0071ab0-0000-4000-8000-000000000001"
_HASH_SEED = "b0071ab0-0000-4000-8000-000000000002"
_EPOCH = "1577836800"  # 2020-01-01: before any guest's clock, so that nothing is from the future
_FEATURES = (
    "none,ext_attr,resize_inode,dir_index,filetype,extent,64bit,flex_bg,"
    "sparse_super,large_file,huge_file,dir_nlink,extra_isize,metadata_csum"
)
_EXTENDED = f"hash_seed={_HASH_SEED},root_owner=0:0,lazy_itable_init=0,lazy_journal_init=0,nodiscard"
_JOURNAL_MIB = 8
"""Smaller disks get no journal: it would be half of them."""
_SMALL_MIB = 32
_FORMAT = 1


def fresh_ext4(size_mib: int, cache: Cache) -> Path:
    """Return an image of `size_mib` MiB that holds an empty ext4 file system. Shared: boot it with snapshot=on.

    Raises MissingTool (e2fsprogs), StoreError.
    """

    def build(path: Path) -> None:
        with path.open("wb") as image:
            image.truncate(size_mib << 20)
        small = size_mib < _SMALL_MIB
        argv: list[str | Path] = ["mke2fs", "-F", "-q", "-t", "ext4", "-b", "1024" if small else "4096", "-I", "256"]
        argv += ["-m", "0", "-N", str(min(64 * size_mib, 1 << 20)), "-U", _UUID, "-L", "bootlab", "-E", _EXTENDED]
        if size_mib < _JOURNAL_MIB:
            argv += ["-O", _FEATURES]
        else:
            argv += ["-O", f"{_FEATURES},has_journal", "-J", "size=1" if small else "size=8"]
        argv.append(path)
        environment = {"MKE2FS_CONFIG": os.devnull, "E2FSPROGS_FAKE_TIME": _EPOCH, "SOURCE_DATE_EPOCH": _EPOCH}
        run(argv, deadline_s=300.0, env=environment, package="e2fsprogs")

    return cache.make("disk", f"ext4 {_FORMAT} {size_mib}", build)
