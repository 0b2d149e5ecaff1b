"""What is in an initramfs: modules that are used, a program as init, nothing else."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bootlab.system import System
from bootlab.techniques.cmdline.audit_findings import ARCHIVE_MODULES
from bootlab.techniques.model.evidence import Effect, Evidence, Measured
from tests.techniques.asking import ALL, NOTHING


def apply(name: str, system: System, measured: Measured) -> System:
    assert ALL[name].change.applies(system, measured) is None
    return ALL[name].change.apply(system, measured)


def test_pruning_keeps_what_drove_a_device(system: System, measured: Measured) -> None:
    pruned = apply("initramfs_pruned", system, measured)
    assert pruned.initramfs is not None
    assert pruned.initramfs.modules == ("virtio_pci", "virtio_blk")
    on_microvm = apply("initramfs_pruned", apply("machine_microvm", system, measured), measured)
    assert on_microvm.initramfs is not None
    assert "virtio_mmio" in on_microvm.initramfs.modules
    assert system.initramfs is not None
    everything = system.with_part("initramfs", modules=("*", "ext4"))
    found = apply("initramfs_pruned", everything, measured).initramfs
    assert found is not None
    assert found.modules == ("virtio_pci", "virtio_blk")


def test_pruning_a_distributions_own_initramfs_keeps_what_was_loaded(system: System, measured: Measured) -> None:
    recipe = {"installed": True, "busybox": False}
    installed = System.model_validate(
        {**dict(system), "initramfs": recipe, "rootfs": {"packages": ["initramfs-tools"], "scripts": True}}
    )
    assert "did not say" in (ALL["initramfs_pruned"].change.applies(installed, measured) or ""), (
        "what it loaded, not used"
    )
    loaded = Measured({"modules": "virtio_blk ext4 virtio-ring"}, {}, {}, "")
    pruned = apply("initramfs_pruned", installed, loaded)
    assert pruned.initramfs is not None
    assert pruned.initramfs.keep_modules == ("ext4", "virtio_blk", "virtio_ring")
    assert ALL["initramfs_pruned"].change.applies(pruned, loaded) == "every module in the initramfs was used"


def test_pruning_an_images_initramfs_keeps_what_an_audit_saw_loaded() -> None:
    image = System.model_validate(
        {"name": "image", "machine": {"type": "q35"}, "image": {"path": Path("d.img")}, "booted": {"console": "login:"}}
    )
    assert "bootlab try --audit RUN" in (ALL["initramfs_pruned"].change.applies(image, NOTHING) or "")
    loaded = Measured({ARCHIVE_MODULES: "virtio_blk ext4"}, {}, {}, "")
    pruned = apply("initramfs_pruned", image, loaded)
    assert pruned.image is not None and pruned.image.keep_modules == ("ext4", "virtio_blk")
    assert "already" in (ALL["initramfs_pruned"].change.applies(pruned, loaded) or "")


def test_a_direct_init_must_be_offered(system: System, measured: Measured) -> None:
    assert apply("initramfs_direct_init", system, measured).kernel.cmdline.endswith(" rdinit=/sbin/init-direct")
    without = system.with_part("initramfs", files={})
    assert "offers no program" in (ALL["initramfs_direct_init"].change.applies(without, measured) or "")


Make = Callable[..., Evidence]


def test_only_what_the_application_needs_is_left_once_it_is_init(camera: System, evidence: Make) -> None:
    technique = ALL["initramfs_application_only"]
    assert "rdinit=/sbin/init-direct" in (technique.change.applies(camera, NOTHING) or "")
    direct = ALL["initramfs_direct_init"].change.apply(
        ALL["userspace_one_script"].change.apply(camera, NOTHING), NOTHING
    )
    assert technique.change.applies(direct, NOTHING) is None
    changed = technique.change.apply(direct, NOTHING)
    assert camera.initramfs is not None and changed.initramfs is not None
    assert changed.kernel.cmdline == camera.kernel.cmdline
    assert changed.initramfs.init == camera.initramfs.files["/sbin/init-direct"]
    assert not changed.initramfs.busybox and changed.initramfs.directory is None and not changed.initramfs.files
    assert changed.initramfs.programs == camera.initramfs.programs
    assert technique.change.applies(changed, NOTHING) is not None
    large, small = (replace(evidence(), sizes={"kernel": size}) for size in (5_000_000, 4_000_000))
    assert technique.proof.prove(small, large) is Effect.PROVEN
    assert technique.proof.prove(large, large) is Effect.NONE
    assert technique.proof.prove(evidence(), large) is Effect.NOT_SHOWN
    assert direct.initramfs is not None
    program = direct.initramfs.files["/sbin/init-direct"]
    other = direct.with_part("initramfs", files={"sbin/init-direct": program}, bootlab_init=True)
    assert technique.change.apply(other, NOTHING).initramfs == changed.initramfs
    made = direct.model_copy(update={"initramfs": direct.initramfs.model_copy(update={"installed": True})})
    assert "initramfs.installed" in (technique.change.applies(made, NOTHING) or "")
    beside = {"kernel": 5_000_000, "initramfs": 2_000_000}
    assert technique.proof.prove(replace(evidence(), sizes=beside), replace(evidence(), sizes=beside)) is Effect.NONE
