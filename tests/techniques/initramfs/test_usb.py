"""Disks on USB: begun first, or looked at without a wait, by a plan's own keys or by the kernel's command line."""

from collections.abc import Callable
from dataclasses import replace

from bootlab.sources import EXAMPLES
from bootlab.system import System, read_system
from bootlab.techniques.initramfs.usb import DELAY
from bootlab.techniques.model.evidence import Effect, Evidence
from tests.techniques.asking import ALL, NOTHING, applied, why_not

LATE, UDEV = (read_system(EXAMPLES / f"coldplug/against/{name}.toml") for name in ("usb-late", "udev"))
LOADED = replace(NOTHING, facts={"modules": "usb_storage xhci_pci ahci", "parameter.usb_storage.delay_use": "1"})


def test_a_plan_begins_with_the_bus_and_the_disk(evidence: Callable[..., Evidence], system: System) -> None:
    changed = applied("initramfs_usb_first", LATE, LOADED)
    assert changed.initramfs is not None and changed.initramfs.coldplug is not None
    assert changed.initramfs.coldplug.first == ("xhci_pci", "usb_storage")
    assert why_not("initramfs_usb_first", changed, LOADED) == "initramfs.coldplug.first has usb_storage already"
    assert "did not load usb_storage" in why_not("initramfs_usb_first", LATE)
    assert "has no plan of modules" in why_not("initramfs_usb_first", system, LOADED)
    line = "usbcore: registered new interface driver usb-storage"
    prove = ALL["initramfs_usb_first"].proof.prove
    early, late = evidence(line), evidence("a", "b", line)
    assert prove(early, late) is Effect.PROVEN and prove(late, early) is Effect.NONE
    assert prove(evidence(), late) is Effect.NOT_SHOWN


def test_the_wait_goes_by_the_plan_where_there_is_one_else_by_a_word(evidence: Callable[..., Evidence]) -> None:
    changed = applied("initramfs_usb_delay_none", LATE, LOADED)
    assert changed.initramfs is not None and changed.initramfs.coldplug is not None
    assert changed.initramfs.coldplug.parameters == {"usb_storage": "delay_use=0"}
    assert applied("cmdline_usb_delay_none", UDEV, LOADED).kernel.cmdline.endswith(" usb_storage.delay_use=0")
    assert why_not("cmdline_usb_delay_none", UDEV) == "the baseline boot has no usb-storage"
    at_once = replace(LOADED, facts={**LOADED.facts, "parameter.usb_storage.delay_use": "0"})
    for name, system in (("cmdline_usb_delay_none", UDEV), ("initramfs_usb_delay_none", LATE)):
        assert why_not(name, system, at_once) == "the driver does not wait already"
        prove = ALL[name].proof.prove
        waits, hastes = (evidence(**said(told, asked)) for told, asked in (("1", "1.713"), ("0", "0.702")))
        assert prove(hastes, waits) is Effect.PROVEN and prove(waits, waits) is Effect.NONE
        # The driver may have been told, and wait all the same; and what is not in the log shows nothing.
        assert prove(evidence(**said("0", "1.713")), waits) is Effect.NONE
        assert prove(evidence(**{DELAY: "0"}), waits) is Effect.NOT_SHOWN


def said(told: str, asked: str) -> dict[str, str]:
    """Return the facts of a boot whose driver was told so many seconds, and asked the disk what it is at that time."""
    return {
        DELAY: told,
        "dmesg.1": "[    0.698] usb 1-1: new high-speed USB device",
        "dmesg.2": "[    0.700123] scsi host1: usb-storage 1-1:1.0",
        "dmesg.3": f"[    {asked}456] scsi 1:0:0:0: Direct-Access     QEMU     QEMU HARDDISK    2.5+ PQ: 0 ANSI: 5",
    }
