"""Which devices are looked for, in which order, and how long for those that never come."""

from bootlab.system import System
from bootlab.techniques.changes.command_line import kernel_words, x86_only
from bootlab.techniques.changes.kernel_options import is_on, known
from bootlab.techniques.changes.machine import has_pci_devices
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.proofs import fact_is, line_vanishes, now_runs
from bootlab.techniques.model.published import CLEAR_LINUX, FIRECRACKER, KATA, LINUX_612, Published, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.subjects import PCI_SEARCH
from bootlab.techniques.model.technique import Risk, Technique, Text


def _needs_no_pci(system: System, measured: Measured) -> str | None:
    if (reason := x86_only(system, measured)) is not None:
        return reason
    if has_pci_devices(system):
        return f"the disks and network of {system.machine.type.value} are PCI devices"
    return None


def _says_nothing(after: Evidence, before: Evidence) -> Effect:
    # drivers/base/dd.c keeps the timeout to itself, and what it changes is what does not happen ten seconds later.
    return Effect.NOT_SHOWN


def _modules_could_bring_them(system: System, measured: Measured) -> str | None:
    if known(system, measured) and not is_on(system, measured, "MODULES"):
        return "a kernel without modules does not wait (drivers/base/dd.c)"
    return None


TECHNIQUES = (
    Technique(
        name="cmdline_pci_off",
        text=Text(
            summary="does not look for a PCI bus at all",
            mechanism=(
                "Scanning a bus reads the configuration space of 32 slots and sizes every BAR found by "
                "writing to it; each access is trapped by a hypervisor. With the option no host bridge is "
                "probed."
            ),
            cost="no PCI device works; for machines whose devices sit on virtio-mmio",
            risk=Risk.FUNCTION,
            published=(
                none_published(
                    f"{FIRECRACKER}, docs (default command line without PCI) and {KATA} (pci=lastbus=0); no "
                    "isolated figure read"
                ),
            ),
        ),
        change=kernel_words("pci=off", _needs_no_pci),
        proof=fact_is("pci_devices", "^0"),
        removes=PCI_SEARCH,
    ),
    Technique(
        name="cmdline_i8042",
        text=Text(
            summary="probes the keyboard controller for a keyboard only, without mouse, multiplexer and status lights",
            mechanism=(
                "The i8042 driver talks to the controller through two I/O ports and waits for each answer; "
                "the mouse port and the multiplexer test are most of that conversation. Under a hypervisor "
                "each access is an exit."
            ),
            cost="no PS/2 mouse; Ctrl-Alt-Del sent by a hypervisor may be lost with nopnp",
            risk=Risk.FUNCTION,
            published=(
                Published("a few tens of milliseconds", f"{FIRECRACKER}, docs/api_requests/actions.md"),
                Published("about 8 ms (noise)", "MVM: tinylabscom/mvm issues 2292, 2299, 2574"),
            ),
        ),
        change=kernel_words("i8042.noaux i8042.nomux i8042.nopnp i8042.dumbkbd", x86_only),
        proof=line_vanishes("i8042 AUX port"),
        removes=Removes(
            "probing of the PS/2 mouse port and multiplexer",
            functions=(
                "i8042_check_aux",
                "i8042_toggle_aux",
                "i8042_setup_aux",
                "i8042_set_mux_mode",
                "i8042_pnp_init",
            ),
        ),
    ),
    Technique(
        name="cmdline_driver_async_probe",
        text=Text(
            summary="lets every driver probe its devices in a thread of its own while initcalls go on",
            mechanism=(
                "By default only drivers that ask for it probe asynchronously (nvme, sd, some MMC hosts; "
                "not virtio, 8250, ahci). With the option each probe is handed to a worker, so one that "
                "sleeps holds up nobody; on one CPU only waiting overlaps."
            ),
            cost=(
                "devices appear in another order, and a driver that relies on the order may fail; a root "
                "device may come late"
            ),
            risk=Risk.FUNCTION,
            published=(
                Published(
                    "3 s -> 300 ms together with hot-added memory, fewer modules and another root file system",
                    CLEAR_LINUX,
                ),
            ),
        ),
        change=kernel_words("driver_async_probe=*"),
        proof=now_runs("__driver_attach_async_helper"),
    ),
    Technique(
        name="cmdline_deferred_probe_timeout",
        text=Text(
            summary="gives up deferred probes at the end of the initcalls",
            mechanism=(
                "A device whose supplier has no driver is probed again and again for ten seconds, because "
                "a module might bring one. With no timeout such devices probe without it, or fail, as soon "
                "as the initcalls are over."
            ),
            cost="a device whose supplier is driven by a module that loads later does not work",
            risk=Risk.FUNCTION,
            published=(none_published(f"{LINUX_612}, drivers/base/dd.c:260"),),
        ),
        change=kernel_words("deferred_probe_timeout=0", _modules_could_bring_them),
        proof=Proof(_says_nothing),
    ),
)
