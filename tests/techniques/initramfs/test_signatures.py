"""Signatures of modules: the module that hashes them is loaded first, where the kernel checks them and has it."""

from collections.abc import Callable
from dataclasses import replace

from bootlab.system import System
from bootlab.techniques.model.evidence import Effect, Evidence
from tests.techniques.asking import ALL, NOTHING, applied, why_not

NAME = "initramfs_sha256_first"
CHECKS = {"MODULE_SIG": "y", "MODULE_SIG_SHA256": "y", "CRYPTO_SHA256_SSSE3": "m"}


def test_it_is_loaded_before_all_others_and_once(system: System) -> None:
    before = system.with_part("initramfs", modules=("ext4", "sha256-ssse3", "virtio_blk"))
    changed = applied(NAME, before)
    assert changed.initramfs is not None
    assert changed.initramfs.modules == ("sha256_ssse3", "ext4", "virtio_blk")
    assert "already" in why_not(NAME, changed)


def test_it_is_for_a_kernel_that_checks_signatures_and_has_the_module(system: System) -> None:
    measured = replace(NOTHING, kernel_config=CHECKS)
    assert ALL[NAME].change.applies(system, measured) is None
    for option in CHECKS:
        without = replace(NOTHING, kernel_config={**CHECKS, option: "n"})
        assert f"CONFIG_{option}=" in why_not(NAME, system, without)
    assert "recipe with modules" in why_not(NAME, system.with_part("initramfs", modules=()))
    loaded = replace(NOTHING, facts={"modules": "ext4 sha256_ssse3"})
    assert "loaded sha256_ssse3 already" in why_not(NAME, system, loaded)


def test_it_is_the_module_of_its_processor(system: System) -> None:
    arm = system.with_part("machine", type="virt").with_part("initramfs", modules=("virtio_blk", "sha2_ce", "ext4"))
    measured = replace(NOTHING, kernel_config={**CHECKS, "CRYPTO_SHA2_ARM64_CE": "m"})
    assert ALL[NAME].change.applies(arm, measured) is None
    loaded = replace(measured, facts={"modules": "ext4 sha2_ce"})
    assert "loaded sha2_ce already" in why_not(NAME, arm, loaded)
    changed = applied(NAME, arm)
    assert changed.initramfs is not None
    assert changed.initramfs.modules == ("sha2_ce", "virtio_blk", "ext4")
    riscv = system.with_part("machine", type="virt", architecture="riscv64")
    assert "for x86-64 and arm64" in why_not(NAME, riscv)


def test_the_order_in_which_the_guest_loaded_its_modules_proves_it(evidence: Callable[..., Evidence]) -> None:
    """Newest first, as /proc/modules has them."""
    prove, without = ALL[NAME].proof.prove, evidence(modules="ext4 virtio_blk virtio")
    assert prove(evidence(modules="ext4 virtio_blk virtio sha256_ssse3"), without) is Effect.PROVEN
    assert prove(evidence(modules="ext4 virtio_blk virtio sha2_ce sha256_arm64"), without) is Effect.PROVEN
    late = evidence(modules="ext4 virtio_blk sha256_ssse3 virtio")
    assert prove(late, without) is Effect.NOT_SHOWN, "one of the others was hashed before it was there"
    last = evidence(modules="sha256_ssse3 ext4 virtio_blk virtio")
    assert prove(last, without) is Effect.NONE, "nothing was left to hash"
    assert prove(without, without) is prove(evidence(modules=""), without) is Effect.NONE
    first = evidence(modules="ext4 virtio_blk virtio sha256_ssse3")
    assert prove(first, first) is prove(evidence(), without) is prove(first, evidence()) is Effect.NOT_SHOWN
