"""Which devices are looked for, in which order, and how long for those that never come."""

from bootlab.system import System
from bootlab.techniques.changes.command_line import kernel_words, x86_only
from bootlab.techniques.changes.kernel_options import is_on, known
from bootlab.techniques.changes.machine import has_pci_devices
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import any_of, fact_is, if_shown, line_appears, line_vanishes, never_runs, now_runs
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


def _has_a_ps2_controller(system: System, measured: Measured) -> str | None:
    if (arch := system.machine.arch) != "x86_64":
        return f"only a PC has a PS/2 controller; this system is {arch}"
    return "the baseline boot found no PS/2 controller" if measured.facts.get("i8042") == "no" else None


def _modules_could_bring_them(system: System, measured: Measured) -> str | None:
    if system.machine.arch == "x86_64":
        return "a device waits for what a device tree says it needs, and a PC has none"
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
                "writing to it; each access is trapped by a hypervisor. With the option the kernel takes no "
                "way to that space (pci_probe is 0, arch/x86/pci/common.c): host bridges that ACPI names "
                "are registered, and every slot looks empty."
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
        proof=fact_is("pci_devices", r"^0\b"),
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
            cost=(
                "no PS/2 mouse, and a keyboard whose lights stay dark; with nopnp the usual ports are probed even "
                "where the firmware says that there is no controller"
            ),
            risk=Risk.FUNCTION,
            published=(
                Published("a few tens of milliseconds", f"{FIRECRACKER}, docs/api_requests/actions.md"),
                Published("about 8 ms (noise)", "MVM: tinylabscom/mvm issues 2292, 2299, 2574"),
            ),
        ),
        change=kernel_words("i8042.noaux i8042.nomux i8042.nopnp i8042.dumbkbd", _has_a_ps2_controller),
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
                "By default only drivers that ask for it probe asynchronously (nvme, sd, MMC hosts, and on "
                "6.12 regulators; not virtio, 8250, ahci). With the option each probe is handed to a worker, "
                "so one that sleeps holds up no other initcall; on one CPU only waiting overlaps. Init starts "
                "when all are over, and so ends the loading of a module (do_init_module(), "
                "kernel/module/main.c): drivers that are modules gain little."
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
        proof=any_of(now_runs("__driver_attach_async_helper"), now_runs("__device_attach_async_helper")),
    ),
    Technique(
        name="cmdline_deferred_probe_timeout",
        text=Text(
            summary="gives up deferred probes at the end of the initcalls",
            mechanism=(
                "A device that depends on another one without a driver (a power domain, an IOMMU, a network "
                "PHY) is put off, and probed again with every driver that comes, because a module might "
                "bring the one it needs; ten seconds after the last one it probes without it, or fails "
                "(drivers/base/dd.c). With no timeout that happens as soon as the initcalls are over."
            ),
            cost=(
                "a device whose supplier is driven by a module that loads later does not work; what a link of "
                "the device tree holds back (fw_devlink) waits for good, because only the timeout lets it go"
            ),
            risk=Risk.FUNCTION,
            published=(none_published(f"{LINUX_612}, drivers/base/dd.c:260"),),
        ),
        change=kernel_words("deferred_probe_timeout=0", _modules_could_bring_them),
        # Where something is given up the kernel says so; else only that the timeout did not run out, in a boot that
        # took longer.
        proof=any_of(
            if_shown(line_appears("deferred probe timeout, ignoring dependency")),
            never_runs("deferred_probe_timeout_work_func"),
        ),
    ),
)
