"""Where a 32-bit arm kernel finds its device tree, and how much is in that."""

from bootlab.system import System
from bootlab.techniques.changes.bootloader import console_loses, not_built
from bootlab.techniques.changes.kernel_options import NOT_BUILT, is_on, option_value
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.proofs import fact_falls
from bootlab.techniques.model.published import BOOTLIN_2019, LINUX_612, Published, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text
from bootlab.timeline import marks as m

_LOADS = "kernel load"
_hands_over_no_tree = console_loses(r"## Flattened Device Tree blob at")


def _has_a_separate_tree(system: System, measured: Measured) -> str | None:
    if system.kernel.build is None:
        return NOT_BUILT
    if system.machine.arch != "armv7":
        return f"only 32-bit arm, whose zImage looks behind itself; this system is {system.machine.arch}"
    if (reason := not_built(system)) is not None:
        return reason
    assert system.card is not None
    if system.card.device_tree == "appended":
        return "the device tree is behind the kernel already (card.device_tree)"
    return None


def _appended(system: System, measured: Measured) -> System:
    changed = system.with_part("card", device_tree="appended")
    missing = [one for one in changed.appended_tree_options if option_value(changed, measured, one) != "y"]
    return changed.with_options(**dict.fromkeys(missing, "y"))


def _no_tree_is_handed_over(after: Evidence, before: Evidence) -> Effect:
    # U-Boot proper says that it hands over a tree; SPL says nothing, but reads args as long as a tree can be.
    if m.UBOOT_ENTRY in after.marks:
        return _hands_over_no_tree.prove(after, before)
    new, old = (_read_beside_kernel(side) for side in (after, before))
    if new is None or old is None or m.UBOOT_ENTRY in before.marks:
        return Effect.NOT_SHOWN
    return Effect.PROVEN if new < old else Effect.NONE


def _read_beside_kernel(evidence: Evidence) -> int | None:
    read, kernel = evidence.read_bytes.get(_LOADS), evidence.sizes.get("kernel")
    return read - kernel if read is not None and kernel is not None else None


def _has_devices_for_nobody(system: System, measured: Measured) -> str | None:
    if system.kernel.build is None:
        return NOT_BUILT
    if system.card is None:
        return "the device tree is the machine's own, and not on a card that is composed here ([card])"
    if (reason := not_built(system)) is not None:
        return reason
    if system.card.device_tree_pruned:
        return "card.device_tree_pruned is true already"
    if system.card.dtb is not None:
        return "the device tree is given (card.dtb)"
    if is_on(system, measured, "MODULES"):
        return "the kernel loads modules, and drivers that are modules are not in it (kernel_modules_off)"
    return None


TECHNIQUES = (
    Technique(
        name="kernel_appended_dtb",
        text=Text(
            summary=(
                "puts the device tree right behind a 32-bit arm kernel, in one file, where the kernel "
                "itself looks for it"
            ),
            mechanism=(
                "The card has zImage with the .dtb behind it, and no separate tree. U-Boot proper finds, "
                "opens and reads one file instead of two, and neither moves the tree nor writes into it: "
                "command line and memory are in it, and what else there is to say, as where an initramfs "
                "lies, comes in ATAGs, which the decompressor puts into the tree. In Falcon mode SPL reads "
                "one sector instead of the 64 KiB that args may take."
            ),
            cost=(
                "one kernel image a board and command line; U-Boot proper tells the kernel of no PSCI, so "
                "one CPU, and of no network address; should the tree be missing, the kernel may take "
                "leftovers in memory for one"
            ),
            risk=Risk.FUNCTION,
            published=(Published("-26 ms to the kernel's start and to user space", BOOTLIN_2019),),
        ),
        change=Change(
            Layer.KERNEL,
            (
                'card.device_tree = "appended"; kernel.build.options: ARM_APPENDED_DTB=y and, unless in '
                "Falcon mode, ARM_ATAG_DTB_COMPAT=y"
            ),
            _appended,
            _has_a_separate_tree,
        ),
        proof=Proof(_no_tree_is_handed_over),
    ),
    Technique(
        name="kernel_device_tree_pruned",
        text=Text(
            summary="leaves out of the device tree what the kernel has no driver for",
            mechanism=(
                "The kernel unfolds every node into memory, compares each with the tables of timers, clocks and "
                "interrupt controllers, and makes devices and files in /sys of most: for a codec or a card that it "
                "cannot drive as well. What is left out is a node that is off, or whose `compatible` has no word that "
                "is anywhere in the kernel, and groups of pins that nobody asks for; what others point at stays, and "
                "so do CPUs, memory that is set aside, and hosts of I2C, SPI and MMC that give others their numbers."
            ),
            cost=(
                "a device tree of this kernel alone: a driver that is added needs its node again, and an overlay, or a "
                "program that binds a driver by hand, does not find one that is off or has no driver"
            ),
            risk=Risk.FUNCTION,
            published=(none_published(f"{LINUX_612}, drivers/of/fdt.c: unflatten_dt_nodes()"),),
        ),
        change=Change(
            Layer.KERNEL,
            "card.device_tree_pruned = true",
            lambda system, measured: system.with_part("card", device_tree_pruned=True),
            _has_devices_for_nobody,
        ),
        proof=fact_falls("platform_devices"),
        # What is left is still read, so all of it is the most that can be gained.
        removes=Removes(
            "nodes of the device tree",
            functions=(
                "unflatten_dt_nodes",
                "of_core_init",
                "of_platform_bus_create",
                "of_find_matching_node_and_match",
            ),
            replaced=True,
        ),
    ),
)
