"""Plans: which techniques a trial takes, and in which order they are stacked.

The default order is that of gain, measured alone. A named plan fixes the order instead, so that somebody's published
ladder can be replayed step by step on another system.
"""

from dataclasses import dataclass

from bootlab.errors import InputError


@dataclass(frozen=True, slots=True)
class Plan:
    """`techniques` None means all; `by_gain` False keeps the order given.

    With `keep_all` each technique goes onto one stack in that order whatever it saves or costs, as on a published
    ladder or when a kernel grows from nothing; only one that breaks the boot, or does not apply, is left out.
    """

    name: str
    summary: str
    techniques: tuple[str, ...] | None
    by_gain: bool
    keep_all: bool = False
    account: str = ""
    """The published table (`techniques.page`) whose order it has, by name; empty where it has nobody's."""


PLANS: dict[str, Plan] = {}
"""Filled below; `bootlab techniques --plans` lists them."""


def _add(
    name: str, summary: str, *techniques: str, by_gain: bool = False, keep_all: bool = False, account: str = ""
) -> None:
    PLANS[name] = Plan(name, summary, techniques or None, by_gain, keep_all, account)


_add("gain", "every technique alone, then those that helped in the order of their gain", by_gain=True)
_add(
    "demo",
    "five techniques across the layers, one of which does nothing, by their gain: five minutes on two cores",
    "cmdline_cryptomgr_notests",
    "initramfs_none",
    "firmware_pvh",
    "cmdline_acpi_off",
    "cmdline_rcu_expedited",
    by_gain=True,
)
# "Minimizing Linux boot times" (D. Ventura, 2024) went this way: a microVM, little memory, a kernel for one CPU with
# what it needs and nothing else, no sleep before the network, the command line word by word, an uncompressed kernel.
# On a kernel that is not built from source the kernel's steps do not apply.
_add(
    "microvm-2024",
    "the ladder of the 6 ms microVM (Ventura, 2024), in its order",
    "machine_microvm",
    "machine_memory_half",
    "kernel_ipconfig_no_wait",
    "kernel_smp_off",
    "kernel_modules_off",
    "kernel_ipv6_off",
    "kernel_pci_off",
    "kernel_ftrace_off",
    "kernel_debug_checks_off",
    "kernel_input_off",
    "kernel_crypto_tests_off",
    "kernel_mitigations_off",
    "cmdline_quiet",
    "cmdline_no_timer_check",
    "cmdline_cryptomgr_notests",
    "cmdline_tsc_reliable",
    "cmdline_8250_nr_uarts",
    "cmdline_pci_off",
    "cmdline_mitigations_off",
    "firmware_qboot",
    "firmware_pvh",
    account="microvm-2024",
)
# "Timing Boot Time Reduction Techniques" (M. Opdenacker, Bootlin, 2019): the kernel's part, in the order of the talk.
# LZO was the fastest of the compressions there and stayed on, so it is the last one here.
_BOARD_2019 = (
    "initramfs_direct_init",
    "initramfs_pruned",
    "initramfs_none",
    "kernel_block_off",
    "kernel_ftrace_off",
    "kernel_serial_fewer",
    "kernel_usb_off",
    "cmdline_lpj",
    "kernel_smp_off",
    "kernel_modules_off",
    "cmdline_quiet",
    "kernel_printk_off",
    "kernel_bug_off",
    "kernel_kallsyms_off",
    "kernel_embedded_syscalls",
    "kernel_thumb2",
    "kernel_slub_tiny",
    "kernel_image_lzma",
    "kernel_image_xz",
    "kernel_image_lz4",
    "kernel_image_gzip",
    "kernel_image_lzo",
    "kernel_optimize_size",
    "kernel_proc_options_off",
    "kernel_configfs_off",
    "kernel_sysfs_off",
    "kernel_debug_info_off",
    "kernel_debug_checks_off",
    "kernel_arm_frame_pointers",
    "kernel_appended_dtb",
)
_add(
    "board-2019",
    "the ladder of the Bootlin board (2019), kernel part, in its order, whatever each step saves",
    *_BOARD_2019,
    keep_all=True,
    account="board-2019",
)
_add(
    "camera-2019",
    "the same ladder from its beginning and beyond its end: application, kernel, bootloader, and what was left",
    "application_thumb2",
    "application_reduced",
    "userspace_one_script",
    "application_static",
    "initramfs_embedded",
    *(name for name in _BOARD_2019 if name != "kernel_smp_off"),
    "bootloader_no_delay",
    "bootloader_no_scan",
    "bootloader_falcon",
    # What the talk left open: "less than 1 s". SMP is out of its place in the talk: the default system has nosmp, and
    # what building without it saves beyond that is asked last.
    "bootloader_no_banner",
    "kernel_smp_off",
    "initramfs_application_only",
    "kernel_reduced",
    "bootloader_no_regulator",
    "cmdline_mem",
    "kernel_blake2s_assembly",
    "kernel_device_tree_pruned",
    keep_all=True,
    account="board-2019",
)
# "Improving boot time on a general Linux distribution" (F. Crozat, Mandriva, 2008): in the order of the text. Parallel
# init by LSB headers comes before all of them there; a system started by systemd has it. Fewer uevents first are ours.
_add(
    "mandriva-2009",
    "the steps of Mandriva's account (2008), in its order, and fewer uevents, whatever each saves; takes --audit RUN",
    "userspace_units_late",
    "userspace_cards_awaited",
    "cmdline_no_legacy_ptys",
    "userspace_udev_few",
    "initramfs_usb_first",
    "initramfs_pruned",
    "cmdline_module_blacklist",
    "cmdline_modules_load",
    "rootfs_readahead",
    "rootfs_preload",
    keep_all=True,
    account="distribution-2008",
)
# What is still worth doing to a desktop's image: each is made of what one boot of it read or loaded.
_add(
    "desktop-2026",
    "what a desktop on a slow disk still gains from: modules hashed by the processor, layout, readahead, preload",
    "initramfs_sha256_first",
    "rootfs_layout",
    "rootfs_readahead",
    "rootfs_preload",
    keep_all=True,
)
# "Improvement of Start-up Time on Linux-Based IVI System" (K. Kato, Panasonic, 2016), in its order. Its first step has
# the kernel in RAM as well, which a bootloader would have to look for. In the place of its last, a DMA controller that
# takes pages wherever they lie, stands what else makes requests to the storage fewer and longer; a root in kept RAM has
# none, so that one does not apply behind the first. The opening picture, part of its system init, comes behind them: it
# is for who looks.
_add(
    "ivi-2012",
    "what made Panasonic's car start sooner (2016), in its order, whatever each step saves",
    "rootfs_kept_ram",
    "cmdline_driver_async_probe",
    "userspace_bootlab_init",
    "userspace_udev_fixed",
    "rootfs_readahead",
    "initramfs_opening_picture",
    keep_all=True,
    account="car-2016",
)
# What a cloud's image waits for inside itself, found by `bootlab audit IMAGE`: what sshd stands behind, then what the
# initramfs and the kernel do that this machine does not need.
_add(
    "cloud-image",
    "what holds sshd up inside a cloud's image, in first boots and later ones, whatever it saves; takes --audit RUN",
    "userspace_cloud_init_ed25519",
    "userspace_cloud_init_late",
    "userspace_cloud_init_once",
    "userspace_cloud_init_one_source",
    "userspace_online_unawaited",
    "userspace_udev_few",
    "initramfs_pruned",
    "cmdline_cryptomgr_notests",
    "cmdline_no_timer_check",
    "cmdline_ftrace_names",
    "cmdline_tracefs",
    "cmdline_trace_events",
    keep_all=True,
)
_add(
    "bottom-up",
    "grows a kernel from base tinyconfig: what each feature costs, alone and on top of those before it",
    "kernel_add_printk",
    "kernel_add_bug",
    "kernel_add_futex",
    "kernel_add_devtmpfs",
    "kernel_add_proc_sysfs",
    "kernel_add_virtio_blk",
    "kernel_add_ext4",
    "kernel_add_network",
    "kernel_add_ip_pnp",
    "kernel_add_cgroups",
    "kernel_add_kvm_guest",
    "kernel_add_modules",
    "kernel_add_smp",
    keep_all=True,
)


def require_plan(name: str) -> Plan:
    """Return a plan by name. Raises InputError that lists those there are."""
    try:
        return PLANS[name]
    except KeyError:
        raise InputError(f"--plan {name}: no such plan", hint=f"there are: {', '.join(sorted(PLANS))}") from None
