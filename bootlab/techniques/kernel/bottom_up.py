"""Techniques that each add one feature to a kernel grown from `tinyconfig`, as the plan `bottom-up` does."""

from bootlab.system import MachineType, System
from bootlab.techniques.changes.kernel_options import WantedOptions, kernel_change, kernel_proof
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import now_runs
from bootlab.techniques.model.published import VENTURA_2024, Published, none_published
from bootlab.techniques.model.technique import Risk, Technique, Text

_GROWN = (none_published(f"{VENTURA_2024}: a part of what his kernel has, grown from tinyconfig"),)

_RUNS = {
    "kernel_add_cgroups": "cgroup_init",
    "kernel_add_devtmpfs": "devtmpfs_init",
    "kernel_add_ext4": "ext4_init_fs",
    "kernel_add_futex": "futex_init",
    "kernel_add_ip_pnp": "ip_auto_config",
    "kernel_add_network": "inet_init",
    "kernel_add_printk": "vprintk_emit",
    "kernel_add_proc_sysfs": "proc_root_init",
    "kernel_add_smp": "cpu_stop_init",
    "kernel_add_virtio_blk": "virtio_blk_init",
}
"""Technique -> a function of the kernel that runs in a boot only with what it gives."""


def _adds(
    name: str,
    wanted: WantedOptions,
    *,
    summary: str,
    mechanism: str,
    cost: str,
    published: tuple[Published, ...] = _GROWN,
) -> Technique:
    text = Text(summary, mechanism, cost, Risk.NONE, published)
    shows = now_runs(_RUNS[name]) if name in _RUNS else None
    return Technique(name, text, kernel_change(wanted, adds=True), kernel_proof(wanted, shows))


def _virtio_bus(system: System, measured: Measured) -> dict[str, str]:
    machine = system.machine
    if machine.type is MachineType.VIRT:
        return {"VIRTIO_MMIO": "y", "PCI": "y", "PCI_HOST_GENERIC": "y", "VIRTIO_PCI": "y"}
    if machine.type is MachineType.MICROVM and machine.options.get("pcie") != "on":
        # Without ACPI, QEMU names the devices on the command line.
        return {"VIRTIO_MMIO": "y", "VIRTIO_MMIO_CMDLINE_DEVICES": "y"}
    return {"PCI": "y", "VIRTIO_PCI": "y"}


TECHNIQUES = (
    _adds(
        "kernel_add_bug",
        WantedOptions({"BUG": "y"}, gates={"EXPERT": "y"}),
        summary="gives the kernel its assertions and their reports",
        mechanism=(
            "A check that fails stops the task or the kernel with a report, instead of dying or hanging without one."
        ),
        cost="a table of places, and the checks themselves",
    ),
    _adds(
        "kernel_add_cgroups",
        WantedOptions({"CGROUPS": "y", "MEMCG": "y", "CGROUP_SCHED": "y", "CGROUP_PIDS": "y"}),
        summary="gives the system control groups: memory, CPU time, number of processes",
        mechanism="Each controller is initialised and makes its files, and each page and object is charged to a group.",
        cost="a controller's state for every group, and accounting of memory",
    ),
    _adds(
        "kernel_add_devtmpfs",
        WantedOptions({"DEVTMPFS": "y", "DEVTMPFS_MOUNT": "y"}),
        summary="gives the system device nodes made by the kernel",
        mechanism="A thread makes a node for each device that registers, so init needs no list of them.",
        cost="a kernel thread that is woken for each device",
    ),
    _adds(
        "kernel_add_ext4",
        WantedOptions({"EXT4_FS": "y"}, gates={"BLOCK": "y"}),
        summary="gives the kernel the ext4 file system",
        mechanism="The journal's and ext4's caches, and the checksum that both are built on.",
        cost="a dozen caches and threads for each mount",
    ),
    _adds(
        "kernel_add_futex",
        WantedOptions(
            {
                "FUTEX": "y",
                "EPOLL": "y",
                "EVENTFD": "y",
                "SIGNALFD": "y",
                "TIMERFD": "y",
                "POSIX_TIMERS": "y",
                "ADVISE_SYSCALLS": "y",
                "MEMBARRIER": "y",
                "FILE_LOCKING": "y",
                "MULTIUSER": "y",
            },
            gates={"EXPERT": "y"},
        ),
        summary="gives programs the system calls of a usual run-time: futexes, epoll, timers, users, file locks",
        mechanism=(
            "Runtimes such as Go's wait on futexes and epoll: without them the first thread that waits "
            "ends in ENOSYS, as the author of the 2024 microVM found."
        ),
        cost="a hash table for futexes, caches and inodes of a few pseudo files",
    ),
    _adds(
        "kernel_add_ip_pnp",
        WantedOptions({"IP_PNP": "y"}, needs=("INET",)),
        summary="lets the kernel configure its network from ip= on the command line",
        mechanism="The card is opened and given its address before init runs, with a sleep of 10 ms in between.",
        cost="at least 10 ms of waiting when ip= is given",
        published=(Published("35.2 -> 55.6 ms with ip= (6.7.3)", VENTURA_2024),),
    ),
    _adds(
        "kernel_add_kvm_guest",
        WantedOptions({"HYPERVISOR_GUEST": "y", "PARAVIRT": "y", "KVM_GUEST": "y", "PVH": "y"}, arch=("x86_64",)),
        summary="gives the kernel the PVH entry and what a guest of KVM asks its host for",
        mechanism="Without the decompressor QEMU starts the kernel itself, and under KVM nothing is calibrated.",
        cost="call sites to patch at boot",
    ),
    _adds(
        "kernel_add_modules",
        WantedOptions({"MODULES": "y"}),
        summary="lets the kernel load modules",
        mechanism="Symbols are exported with their names, and a loader links and relocates what init hands it.",
        cost="tables of symbols in the image",
    ),
    _adds(
        "kernel_add_network",
        WantedOptions(
            {
                "NET": "y",
                "INET": "y",
                "UNIX": "y",
                "PACKET": "y",
                "NETDEVICES": "y",
                "NET_CORE": "y",
                "VIRTIO_MENU": "y",
                "VIRTIO_NET": "y",
            },
            more=_virtio_bus,
        ),
        summary="gives the kernel sockets, IPv4 and virtio network cards",
        mechanism=(
            "Hash tables for connections, routes and neighbours are sized by memory, protocols "
            "register, and each card is probed with its queues."
        ),
        cost="the largest single step: the network stack",
    ),
    _adds(
        "kernel_add_printk",
        WantedOptions({"PRINTK": "y"}, gates={"EXPERT": "y"}),
        summary="gives the kernel its messages, from a kernel that has none",
        mechanism=(
            "The buffer, the formatting of each message and the console driver that prints it; without "
            "them not even a crash says why."
        ),
        cost="the time to format and print each message",
    ),
    _adds(
        "kernel_add_proc_sysfs",
        WantedOptions(
            {"PROC_FS": "y", "PROC_SYSCTL": "y", "SYSFS": "y", "TMPFS": "y", "SHMEM": "y"}, gates={"EXPERT": "y"}
        ),
        summary="gives the system /proc, /sys and tmpfs",
        mechanism=(
            "What programs, and bootlab's own facts, ask the kernel about itself; every driver, device "
            "and subsystem then enters its files."
        ),
        cost="a directory and files for each device, driver and parameter",
    ),
    _adds(
        "kernel_add_smp",
        WantedOptions({"SMP": "y"}),
        summary="gives the kernel several CPUs",
        mechanism="Other CPUs are found and started, locks are real, and RCU waits for each of them.",
        cost="starting of CPUs, real locks, grace periods",
    ),
    _adds(
        "kernel_add_virtio_blk",
        WantedOptions({"BLOCK": "y", "BLK_DEV": "y", "VIRTIO_MENU": "y", "VIRTIO_BLK": "y"}, more=_virtio_bus),
        summary="gives the kernel block devices and virtio disks",
        mechanism=(
            "Queues, partitions and the driver of virtio disks on the bus of this machine: virtio-mmio "
            "on microvm, PCI on others."
        ),
        cost="the block layer, and one probe for each disk",
    ),
)
