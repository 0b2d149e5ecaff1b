"""How an initramfs is compressed: the decompressor that ran proves it."""

from collections.abc import Callable
from dataclasses import replace

from bootlab.system import Compression, System
from bootlab.techniques.model.evidence import Effect, Evidence, Measured
from tests.techniques.asking import ALL

Make = Callable[..., Evidence]


def test_a_finished_archive_is_not_packed_again(system: System, measured: Measured) -> None:
    from pathlib import Path

    from bootlab.system import Initramfs

    finished = system.model_copy(update={"initramfs": Initramfs(path=Path("initramfs.gz"))})
    assert "finished archive" in (ALL["initramfs_lz4"].change.applies(finished, measured) or "")
    assert ALL["initramfs_pruned"].change.applies(finished, measured) is not None


def test_the_decompressor_that_ran_proves_the_compression(system: System, evidence: Make) -> None:
    gzip, lz4, none = evidence(ran=("gunzip",)), evidence(ran=("unlz4",)), evidence()
    assert ALL["initramfs_lz4"].proof.prove(lz4, gzip) is Effect.PROVEN
    assert ALL["initramfs_lz4"].proof.prove(gzip, gzip) is Effect.NONE
    assert ALL["initramfs_lz4"].proof.prove(none, gzip) is Effect.NOT_SHOWN
    lzo = evidence(ran=("unlzo",))
    assert (ALL["initramfs_lzo"].proof.prove(lzo, gzip), ALL["initramfs_lzo"].proof.prove(lz4, gzip)) == (
        Effect.PROVEN,
        Effect.NONE,
    )
    assert ALL["initramfs_none"].proof.prove(none, gzip) is Effect.PROVEN
    assert ALL["initramfs_none"].proof.prove(none, none) is Effect.NOT_SHOWN
    assert (
        ALL["initramfs_none"].change.apply(system, Measured({}, {}, {}, "")).initramfs.compression is Compression.NONE
    )  # type: ignore[union-attr]


def test_a_kernel_that_cannot_unpack_it_is_told(system: System, measured: Measured) -> None:
    gzip_only = replace(measured, kernel_config={"RD_GZIP": "y"})
    assert ALL["initramfs_lz4"].change.applies(system, gzip_only) == "the kernel cannot unpack it: RD_LZ4 is off"
    both = replace(measured, kernel_config={"RD_LZ4": "y"})
    assert ALL["initramfs_lz4"].change.applies(system, both) is None
    assert ALL["initramfs_none"].change.applies(system, both) is None
