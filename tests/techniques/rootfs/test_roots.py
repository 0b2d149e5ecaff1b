"""Another root file system: where it applies, what it changes and what proves it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.system import Compression, FileSystem, GuestScreen, Initramfs, Rootfs, ScreenMark, Seen, System, Typed
from bootlab.techniques.model.evidence import Effect, Evidence, Measured
from bootlab.techniques.model.technique import Layer
from tests.build.root.test_preload import KNOWN
from tests.build.root.test_preload import facts as habits
from tests.build.root.test_readahead import PACK
from tests.techniques.asking import ALL, NOTHING, applied, why_not

Make = Callable[..., Evidence]


@pytest.fixture
def rooted(built: System) -> System:
    """A microVM whose kernel, built from source, mounts an ext4 root with packages."""
    root = Rootfs(packages=("dash",), init=Path("init"), files={"/sbin/init-direct": Path("program")})
    return built.model_copy(update={"rootfs": root}).with_cmdline("root=/dev/vda rootfstype=ext4 ro")


def _sized(evidence: Evidence, **sizes: int) -> Evidence:
    return replace(evidence, sizes=sizes)


def test_all_of_them_say_why_not_without_a_root(built: System) -> None:
    for technique in ALL.values():
        if technique.change.layer is Layer.ROOTFS:
            assert technique.change.applies(built, NOTHING) == "the system has no root file system"


@pytest.mark.parametrize(("kind", "option"), [("squashfs", "SQUASHFS"), ("erofs", "EROFS_FS")])
def test_a_read_only_root_brings_its_driver_into_the_kernel(
    kind: str, option: str, rooted: System, evidence: Make
) -> None:
    changed = applied(f"rootfs_{kind}", rooted)
    assert changed.rootfs is not None and changed.kernel.build is not None
    assert (changed.rootfs.filesystem.value, changed.rootfs.compression) == (kind, Compression.LZ4)
    assert f"rootfstype={kind}" in changed.kernel.cmdline and "ext4" not in changed.kernel.cmdline
    assert {option, "MISC_FILESYSTEMS", "BLOCK"} <= set(changed.kernel.build.options)
    mounted = evidence(f"VFS: Mounted root ({kind} filesystem) readonly on device 254:0.")
    ext4 = evidence("VFS: Mounted root (ext4 filesystem) readonly on device 254:0.")
    prove = ALL[f"rootfs_{kind}"].proof.prove
    assert prove(mounted, ext4) is Effect.PROVEN
    assert prove(ext4, ext4) is Effect.NOT_SHOWN and prove(mounted, mounted) is Effect.NOT_SHOWN
    assert "rw on the command line" in why_not(f"rootfs_{kind}", rooted.with_cmdline("rw"))


def test_another_compression_is_another_technique_of_the_same_file_system(rooted: System, evidence: Make) -> None:
    packed = applied("rootfs_squashfs", rooted)
    changed = applied("rootfs_squashfs_zstd", packed)
    assert changed.rootfs is not None and changed.rootfs.compression is Compression.ZSTD
    assert changed.kernel.build is not None and changed.kernel.build.options["SQUASHFS_ZSTD"] == "y"
    assert why_not("rootfs_squashfs_zstd", changed) == "the root is squashfs with zstd already"
    assert why_not("rootfs_squashfs", changed) == "the root is squashfs already"
    prove = ALL["rootfs_squashfs_zstd"].proof.prove
    small, large = _sized(evidence(), rootfs=100), _sized(evidence(), rootfs=300)
    assert prove(small, large) is Effect.PROVEN and prove(large, small) is Effect.NOT_SHOWN
    below = evidence(disk_mounts="squashfs:/run/root")
    assert prove(below, evidence(disk_mounts="ext4:/run/root")) is Effect.PROVEN


def test_a_finished_kernel_must_have_the_driver(rooted: System) -> None:
    stock = rooted.with_part("kernel", build=None, package="linux-image-cloud-amd64")
    assert why_not("rootfs_squashfs", stock, replace(NOTHING, kernel_config={"EXT4_FS": "y"})) == (
        "the kernel is built without SQUASHFS, SQUASHFS_LZ4"
    )
    modular = replace(NOTHING, kernel_config={"SQUASHFS": "m", "SQUASHFS_LZ4": "y"})
    assert "no initramfs loads it" in why_not("rootfs_squashfs", stock, modular)
    loading = stock.model_copy(update={"initramfs": Initramfs(init=Path("init"), modules=("squashfs",))})
    changed = applied("rootfs_squashfs", loading, modular)
    assert changed.kernel.build is None


def test_without_a_journal_none_is_loaded(rooted: System, evidence: Make) -> None:
    changed = applied("rootfs_no_journal", rooted)
    assert changed.rootfs is not None and not changed.rootfs.journal
    squashed = rooted.with_part("rootfs", filesystem="squashfs")
    assert why_not("rootfs_no_journal", squashed) == "the root is squashfs, which has no journal"
    prove = ALL["rootfs_no_journal"].proof.prove
    loads, silent = evidence(ran=("jbd2_journal_load",)), evidence()
    assert prove(silent, loads) is Effect.PROVEN and prove(loads, loads) is Effect.NONE
    smaller, larger = _sized(silent, rootfs=6 << 20), _sized(silent, rootfs=10 << 20)
    assert prove(smaller, larger) is Effect.PROVEN and prove(larger, larger) is Effect.NOT_SHOWN


def test_an_uncompressed_root_is_larger_or_unpacks_nothing(rooted: System, evidence: Make) -> None:
    assert why_not("rootfs_uncompressed", rooted) == "the root is not compressed already"
    packed = rooted.with_part("rootfs", filesystem="erofs", compression="lz4")
    changed = applied("rootfs_uncompressed", packed)
    assert changed.rootfs is not None and changed.rootfs.filesystem is FileSystem.EROFS
    prove = ALL["rootfs_uncompressed"].proof.prove
    small, large = _sized(evidence(), rootfs=100), _sized(evidence(), rootfs=300)
    assert prove(large, small) is Effect.PROVEN and prove(small, small) is Effect.NONE
    assert prove(evidence(), evidence(ran=("squashfs_decompress",))) is Effect.PROVEN


def test_a_root_becomes_an_initramfs_with_the_same_content(rooted: System, evidence: Make) -> None:
    changed = applied("rootfs_initramfs", rooted)
    assert changed.rootfs is None and changed.initramfs is not None and rooted.rootfs is not None
    assert (changed.initramfs.packages, changed.initramfs.init) == (("dash",), rooted.rootfs.init)
    assert changed.kernel.cmdline == "console=ttyS0", "what the recipe calls init is /init here and there"
    installed = rooted.with_part("rootfs", init=None)
    assert applied("rootfs_initramfs", installed).kernel.cmdline == "console=ttyS0 rdinit=/sbin/init"
    own = rooted.with_cmdline("init=/bin/app")
    assert applied("rootfs_initramfs", own).kernel.cmdline == "console=ttyS0 rdinit=/bin/app"
    mounted = evidence("VFS: Mounted root (ext4 filesystem) readonly on device 254:0.")
    prove = ALL["rootfs_initramfs"].proof.prove
    assert prove(evidence("Linux version 6.12"), mounted) is Effect.PROVEN and prove(mounted, mounted) is Effect.NONE


def test_busybox_takes_the_packages_place(rooted: System) -> None:
    changed = applied("rootfs_busybox", rooted)
    assert changed.rootfs is not None and changed.rootfs.packages == () and changed.rootfs.busybox
    assert "init is one of the packages" in why_not("rootfs_busybox", rooted.with_part("rootfs", init=None))


def test_the_application_becomes_init_of_the_root(rooted: System) -> None:
    assert applied("rootfs_direct_init", rooted).kernel.cmdline.endswith(" init=/sbin/init-direct")
    assert "offers no program" in why_not("rootfs_direct_init", rooted.with_part("rootfs", files={}))


def test_reading_ahead_takes_the_pack_of_a_boot_that_learned(rooted: System, evidence: Make) -> None:
    technique = ALL["rootfs_readahead"]
    slow = rooted.with_part("rootfs", model="hdd")
    assert "answers at once" in why_not("rootfs_readahead", rooted)
    assert "init= on the command line" in why_not("rootfs_readahead", slow.with_cmdline("init=/bin/sh"))
    assert technique.change.learning is not None
    learning = technique.change.learning(slow)
    assert learning.rootfs is not None and learning.rootfs.readahead is not None and learning.rootfs.readahead.record
    assert learning.check is not None and learning.check.console == r"bootlab: fact readahead\.end"
    with pytest.raises(InputError, match="printed no pack"):
        technique.change.apply(slow, NOTHING)
    for model, order in (("hdd", "block"), ("sd", "need")):
        changed = applied("rootfs_readahead", rooted.with_part("rootfs", model=model), _learned())
        assert changed.rootfs is not None and changed.rootfs.readahead is not None
        assert (changed.rootfs.readahead.text, changed.rootfs.readahead.order) == (PACK, order)
    read, nothing = evidence(**{"readahead.bytes": "4096"}), evidence(**{"readahead.bytes": "0"})
    assert technique.proof.prove(read, evidence()) is Effect.PROVEN
    assert technique.proof.prove(nothing, evidence()) is Effect.NONE
    assert technique.proof.prove(evidence(), evidence()) is Effect.NOT_SHOWN


def test_a_layout_takes_the_same_pack_and_is_proved_by_what_the_disk_passed_over(
    rooted: System, evidence: Make
) -> None:
    slow = rooted.with_part("rootfs", model="hdd")
    assert "answers at once" in why_not("rootfs_layout", rooted)
    changed = applied("rootfs_layout", slow, _learned())
    assert changed.rootfs is not None and changed.rootfs.layout_text == PACK and changed.rootfs.readahead is None
    assert why_not("rootfs_layout", changed) == "the root is laid out by a pack already"
    ahead = applied("rootfs_readahead", slow, _learned())
    assert str(why_not("rootfs_layout", ahead)).endswith("lay it out first, then let it learn")
    for preload, why in (({"habits": "habits"}, "then let it learn"), ({"record": True}, ""), ({}, "")):
        session = slow.with_part("rootfs", preload=preload)
        said = why_not("rootfs_layout", session)
        assert said.endswith(why) and bool(said) == bool(why)
    prove = ALL["rootfs_layout"].proof.prove
    far, near, between = (replace(evidence(), passed_bytes={"rootfs": number}) for number in (100, 50, 80))
    assert prove(near, far) is Effect.PROVEN and prove(far, near) is Effect.NONE
    assert prove(between, far) is Effect.NOT_SHOWN and prove(evidence(), far) is Effect.NOT_SHOWN


def test_what_a_session_opens_is_read_where_somebody_logs_in(rooted: System, evidence: Make) -> None:
    technique = ALL["rootfs_preload"]
    slow = rooted.with_part("rootfs", model="hdd").with_part("machine", type="q35", devices=("VGA",))
    assert "answers at once" in why_not("rootfs_preload", rooted)
    assert "nobody logs in" in why_not("rootfs_preload", slow)
    marks = {"window": ScreenMark(kind=Seen.PAINTED), "there": ScreenMark(kind=Seen.ANSWERS, after="name")}
    screen = GuestScreen(marks=marks, typed={"name": Typed(after="window", text="ann\n")})
    seen = slow.model_copy(update={"screen": screen})
    # Who picks a user and presses Enter logs in, too.
    pressed = GuestScreen(marks=marks, typed={"name": Typed(after="window", keys=("down", "ret"))})
    applied("rootfs_preload", slow.model_copy(update={"screen": pressed}), replace(NOTHING, facts=habits()))
    assert technique.change.learning is not None
    learning = technique.change.learning(seen)
    assert learning.rootfs is not None and learning.rootfs.preload is not None and learning.rootfs.preload.record
    assert learning.check is not None and learning.check.console == r"bootlab: fact preload\.end"
    with pytest.raises(InputError, match="printed no list of habits"):
        technique.change.apply(seen, NOTHING)
    changed = applied("rootfs_preload", seen, replace(NOTHING, facts=habits()))
    assert changed.rootfs is not None and changed.rootfs.preload is not None and changed.rootfs.preload.text == KNOWN
    assert "reads for sessions already" in why_not("rootfs_preload", changed)
    assert technique.proof.prove(evidence(**{"preload.bytes": "4096"}), evidence()) is Effect.PROVEN
    assert technique.proof.prove(evidence(**{"preload.bytes": "0"}), evidence()) is Effect.NONE


def _learned() -> Measured:
    lines = PACK.splitlines()
    facts = {f"readahead.{number}": line for number, line in enumerate(lines, 1)}
    return replace(NOTHING, facts={**facts, "readahead.end": str(len(lines))})
