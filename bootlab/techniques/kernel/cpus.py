"""How many CPUs the kernel is built for, and of which makers."""

from bootlab.system import System
from bootlab.techniques.changes.kernel_options import WantedOptions, off, option_value, rebuilt_kernel
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import if_shown, initcalls_gone, line_appears
from bootlab.techniques.model.published import BOOTLIN_2019, LINUX_612, VENTURA_2024, Published, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Risk, Text

_ONE_CPU = frozenset({"nosmp", "maxcpus=0", "maxcpus=1"})
_MOST = 8


def _one_cpu(system: System, measured: Measured) -> str | None:
    vcpus = system.machine.vcpus
    if vcpus == 1 or _ONE_CPU & set(system.kernel.cmdline.split()):
        return None
    return f"the machine has {vcpus} vCPUs, and no word on the command line leaves one of them alone (nosmp)"


def _has_many(system: System, measured: Measured) -> str | None:
    if system.machine.vcpus > _MOST:
        return f"the machine has {system.machine.vcpus} vCPUs"
    built = option_value(system, measured, "NR_CPUS")
    return f"NR_CPUS is {built} already" if built is not None and built.isdigit() and int(built) <= _MOST else None


TECHNIQUES = (
    rebuilt_kernel(
        "kernel_smp_off",
        Text(
            summary="builds a kernel for one CPU, without locks, per-CPU machinery and the start of others",
            mechanism=(
                "No other CPU is looked for or started, locks compile to nothing, and the alternatives for several "
                "CPUs need not be patched. Of a kernel that is not preemptible RCU becomes the tiny one (TINY_RCU), "
                "whose grace periods are over at once."
            ),
            cost="a second CPU is never used; a kernel of its own for machines with one",
            risk=Risk.FUNCTION,
            published=(
                Published("-126 ms of total boot time, -188 KB (-4.6 %) of compressed kernel", BOOTLIN_2019),
                Published(
                    "35.3 -> 9.1 ms with other options that follow from it (6.7.3, 1 vCPU, Firecracker)", VENTURA_2024
                ),
            ),
        ),
        WantedOptions(
            off("SMP"),
            drops=("NR_CPUS", "MAXSMP", "DEFERRED_STRUCT_PAGE_INIT"),
            # arm64 is always built for several.
            arch=("x86_64", "armv7", "riscv64"),
            applies=_one_cpu,
        ),
        shows=initcalls_gone("cpu_stop_init"),
        removes=Removes(
            "starting of further CPUs, and waiting for RCU among them",
            functions=(
                "smp_init",
                "native_smp_prepare_cpus",
                "sched_init_smp",
                "cpu_stop_init",
                "synchronize_rcu",
                "synchronize_rcu_expedited",
                "rcu_barrier",
            ),
            # The CPU's own timer is calibrated all the same.
            keeps=("setup_boot_APIC_clock",),
        ),
    ),
    rebuilt_kernel(
        "kernel_nr_cpus",
        Text(
            summary="builds for at most 8 CPUs instead of hundreds or thousands",
            mechanism=(
                "Bit masks, per-CPU tables and the areas set aside for CPUs that could appear have a fixed "
                "size of NR_CPUS, and loops go over all of them."
            ),
            cost="CPUs beyond the eighth are not used",
            risk=Risk.FUNCTION,
            published=(none_published(f"{LINUX_612}, arch/x86/Kconfig"),),
        ),
        WantedOptions({"NR_CPUS": "8"}, gates=off("MAXSMP"), needs=("SMP",), applies=_has_many),
        shows=if_shown(line_appears(r"NR_CPUS[:=]8 ")),
    ),
    rebuilt_kernel(
        "kernel_cpu_vendors",
        Text(
            summary="builds without the code for rare makers of x86 CPUs",
            mechanism=(
                "What is left is asked for its identity sooner; the tables and quirks of the others are "
                "not in the image. It is as near as 6.12 comes to leaving out microcode loading, which is "
                "no option any more."
            ),
            cost="CPUs of Hygon, Centaur and Zhaoxin run without their quirks, and without mitigations of their own",
            risk=Risk.FUNCTION,
            published=(none_published(f"{VENTURA_2024}, kernel without them; no isolated figure"),),
        ),
        WantedOptions(
            off("CPU_SUP_HYGON", "CPU_SUP_CENTAUR", "CPU_SUP_ZHAOXIN"),
            gates={"EXPERT": "y", "PROCESSOR_SELECT": "y"},
            arch=("x86_64",),
        ),
    ),
    rebuilt_kernel(
        "kernel_mce_off",
        Text(
            summary="builds without the reporting of hardware errors",
            mechanism=(
                "Banks of each CPU are initialised and cleared through model-specific registers, each of "
                "which a hypervisor must emulate; devices and a pool follow in initcalls."
            ),
            cost=(
                "hardware errors are not reported, and the kernel cannot run as a guest that Intel TDX protects from "
                "its host"
            ),
            risk=Risk.SECURITY,
            published=(none_published(f"{VENTURA_2024}, kernel without it; no isolated figure"),),
        ),
        WantedOptions(off("X86_MCE"), gates=off("INTEL_TDX_GUEST", "ACPI_APEI", "RAS_CEC"), arch=("x86_64",)),
        shows=initcalls_gone("mcheck_init_device"),
        removes=Removes(
            "machine checks",
            functions=(
                "mcheck_cpu_init",
                "mcheck_init",
                "mcheck_init_device",
                "mcheck_late_init",
            ),
        ),
    ),
)
