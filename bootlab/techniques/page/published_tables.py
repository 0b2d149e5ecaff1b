"""The rows of five published accounts of boot-time techniques, and what they are called here.

The board: M. Opdenacker, Bootlin, 2019. The microVM: D. Ventura, 2024. The distribution: F. Crozat, Mandriva, 2008. The
cloud's FreeBSD: C. Percival and others, 2017 to 2022. The car: K. Kato, Panasonic, 2016. A row that is no technique
here says why.
"""

from bootlab.techniques.model.subjects import ONE_STREAM_IN_BRIEF
from bootlab.techniques.page.published_car import CAR_2016
from bootlab.techniques.page.published_row import PublishedRow, PublishedTable

BOARD_2019 = PublishedTable(
    name="board-2019",
    title="The board: 9.45 s to 2.41 s",
    where='M. Opdenacker, "Timing Boot Time Reduction Techniques", Bootlin, ELCE 2019; BeagleBone Black, Linux 5.1',
    rows=(
        PublishedRow("Thumb-2 for user space", "-18 % of file system, under 5 % faster", ("application_thumb2",)),
        PublishedRow(
            "uClibc or musl", "110 KB, no other significant change", ("application_uclibc", "application_musl")
        ),
        PublishedRow(
            "application with only the features it needs", "-350 ms, 16.11 -> 3.54 MB", ("application_reduced",)
        ),
        PublishedRow(
            "one script for init; the application as init",
            "hardly noticeable",
            ("userspace_one_script", "initramfs_direct_init", "rootfs_direct_init"),
        ),
        PublishedRow(
            "BusyBox with echo, sh, sleep and test only",
            "682 -> 86 KB, hardly noticeable",
            ("userspace_busybox_used",),
        ),
        PublishedRow(
            "unused files removed",
            "3.54 -> 2.33 MB (-34 %), hardly noticeable",
            (),
            "`bootlab unused`: of camera-board's 290 files 270, but they are links to busybox: 11.048 -> 11.045 MB",
        ),
        PublishedRow("static executables", "-20 ms, 2.33 -> 1.58 MB", ("application_static",)),
        PublishedRow(
            "initramfs as root",
            "+300 ms; -20 ms and -610 KB once block devices are off",
            ("rootfs_initramfs", "kernel_block_off"),
        ),
        PublishedRow(
            "initramfs uncompressed in a compressed kernel",
            "-170 ms, -200 KB",
            ("initramfs_embedded", "initramfs_none"),
        ),
        PublishedRow(
            "initcall_debug, boot graph", "none: it measures", (), "`bootlab boot` lists every initcall of every boot"
        ),
        PublishedRow("tracers", "-550 ms, -217 KB", ("kernel_ftrace_off", "cmdline_tracefs", "cmdline_trace_events")),
        PublishedRow("serial driver", "660 ms, not removed", ("kernel_serial_fewer", "cmdline_8250_nr_uarts")),
        PublishedRow(
            "network driver", "112 ms", (), "drivers of one board: `bootlab profile` and `kernel.build.options`"
        ),
        PublishedRow("USB", "82 ms, not removed", ("kernel_usb_off",)),
        PublishedRow("lpj=", "-82 ms", ("cmdline_lpj",)),
        PublishedRow("SMP", "-126 ms, -188 KB (-4.6 %)", ("kernel_smp_off", "cmdline_nosmp")),
        PublishedRow("MODULES", "-20 ms, -82 KB", ("kernel_modules_off",)),
        PublishedRow("quiet", "-577 ms", ("cmdline_quiet",)),
        PublishedRow("PRINTK and BUG", "-118 KB (-5.8 %)", ("kernel_printk_off", "kernel_bug_off")),
        PublishedRow("KALLSYMS", "-107 KB; -767 ms with quiet, PRINTK and BUG", ("kernel_kallsyms_off",)),
        PublishedRow("EMBEDDED and EXPERT", "-34 ms, -51 KB", ("kernel_embedded_syscalls",)),
        PublishedRow("THUMB2_KERNEL", "+5 ms, +40 KB", ("kernel_thumb2",)),
        PublishedRow("SLAB", "the best of three", (), "removed in Linux 6.8"),
        PublishedRow("SLOB", "+1.43 s, -5 KB", (), "removed in Linux 6.4; `kernel_slub_tiny` took its place"),
        PublishedRow("SLUB", "+2 ms, +4 KB", ("kernel_slub_tiny",)),
        PublishedRow("kernel: gzip", "1.451 s to user space, 2350336 bytes", ("kernel_image_gzip",)),
        PublishedRow("kernel: LZMA", "2.167 s, 1777000 bytes", ("kernel_image_lzma",)),
        PublishedRow("kernel: XZ", "1.999 s, 1720120 bytes", ("kernel_image_xz",)),
        PublishedRow("kernel: LZO", "1.416 s, 2533872 bytes", ("kernel_image_lzo",)),
        PublishedRow("kernel: LZ4", "1.462 s, 2716752 bytes", ("kernel_image_lz4",)),
        PublishedRow(
            "the five from a faster card",
            "gzip 1.403 s, LZMA 2.132 s, XZ 1.965 s, LZO 1.363 s, LZ4 1.404 s",
            (),
            "`bootlab study compression`: a boot of each gives every storage speed ([figures](sweeps.md#measured))",
        ),
        PublishedRow("-Os instead of -O2", "-4 ms, -5.7 %", ("kernel_optimize_size",)),
        PublishedRow(
            "-Os on SAMA5D3 Xplained, Linux 3.10",
            "init -44 ms, login prompt +1.815 s",
            ("kernel_optimize_size",),
        ),
        PublishedRow("PROC_FS", "-48 KB; the application needed it", ("kernel_proc_fs_off",)),
        PublishedRow("PROC_SYSCTL, PROC_PAGE_MONITOR", "-9 KB, no noticeable change", ("kernel_proc_options_off",)),
        PublishedRow("CONFIGFS_FS", "-7 KB", ("kernel_configfs_off",)),
        PublishedRow("SYSFS", "-35 ms, -22 KB", ("kernel_sysfs_off",)),
        PublishedRow(
            "compile-time checks, DEBUG_INFO",
            "-6 ms, -38 KB (-1.7 %)",
            ("kernel_debug_info_off", "kernel_debug_checks_off"),
        ),
        PublishedRow("ARM unwinder", "+0.8 ms, -24 KB (-1.1 %)", ("kernel_arm_frame_pointers",)),
        PublishedRow("device tree appended", "-26 ms", ("kernel_appended_dtb",)),
        PublishedRow(
            "U-Boot: no environment in SPL", "-250 ms", (), "SPL of the board here has no environment to read"
        ),
        PublishedRow("U-Boot: Falcon mode", "-479 ms", ("bootloader_falcon",)),
        PublishedRow("no tty layer", "did not boot; hundreds of ms were hoped for", ("kernel_tty_off",)),
    ),
)

MICROVM_2024 = PublishedTable(
    name="microvm-2024",
    title="The microVM: 1037 ms to 6 ms",
    where='David Ventura, "Minimizing Linux boot times", 2024; Firecracker, Linux 6.7.3, 1 vCPU, 128 MiB',
    rows=(
        PublishedRow(
            "kernel grown from tinyconfig",
            "1037 -> 35.2 ms (other kernel and command line too)",
            (),
            "the plan `bottom-up` grows one by twelve steps: 26.73 -> 51.44 ms ([how](cases/microvm.md#from-nothing))",
        ),
        PublishedRow(
            "SERIAL_8250_CONSOLE, IA32_EMULATION, COMPAT_32BIT_TIME",
            "none: it would not start without",
            (),
            "`bootlab boot` names the option that a failed boot lacks",
        ),
        PublishedRow("ip= on the command line", "35.2 -> 55.6 ms", ("kernel_ip_pnp_off", "kernel_add_ip_pnp")),
        PublishedRow("patch: no sleep before IP autoconfiguration", "55.6 -> 35.3 ms", ("kernel_ipconfig_no_wait",)),
        PublishedRow(
            "fewer vCPUs",
            "2.5 ms per vCPU",
            ("machine_one_vcpu", "cmdline_one_cpu"),
            caveat=f"ours: {ONE_STREAM_IN_BRIEF}",
        ),
        PublishedRow("SMP", "35.3 -> 9.1 ms", ("kernel_smp_off",)),
        PublishedRow(
            "mark_rodata_ro, ipv4_offload_init: rcu_barrier",
            "14 ms of SMP's",
            ("cmdline_rodata_off",),
        ),
        PublishedRow("less memory", "2.7 to 8.7 ms per GiB", ("machine_memory_half",)),
        PublishedRow(
            "MAP_POPULATE",
            "-1 ms of boot, VM creation +156 ms per GiB",
            (),
            "costs more than it saves; a virtual clock has no host page faults, and nothing here fills memory ahead",
        ),
        PublishedRow(
            "2 MiB pages",
            "9.1 -> 5.94 ms",
            (),
            "`bootlab sweep --page-size 4K,2M` on KVM: a virtual clock has no host page faults",
        ),
        PublishedRow(
            "cgroup favordynmods on the host",
            "KVM_CREATE_VM 19-41 -> 2.9 ms",
            (),
            "of the host, before power-on: outside what is timed here",
        ),
    ),
)

DISTRIBUTION_2008 = PublishedTable(
    name="distribution-2008",
    title="The distribution: 29 s to 26 s, a login that answers 27.5 s to 21 s",
    where='F. Crozat, "Improving boot time on a general Linux distribution, not an easy task", 2008; Mandriva 2009.0, '
    "the totals from its author's memory",
    rows=(
        PublishedRow(
            "full boot, perceived, desktop",
            "none: it measures",
            (),
            "marks of the screen: `examples/desktop.toml`, [screen.md](screen.md#a-desktops-three-timings); what the "
            "plan `mandriva-2009` saves of the three is in [screen.md](screen.md#mandrivas-steps), step by step: the "
            "rows below are of other systems, each alone",
        ),
        PublishedRow(
            "display manager before the boot is over",
            "none",
            ("userspace_units_late",),
            caveat="bootlab-init starts the goal first by itself: [init.md](init.md)",
        ),
        PublishedRow(
            "parallel init by LSB headers",
            "up to -12 s",
            (),
            "no technique: six inits start the same Debian in [cases/inits.md](cases/inits.md), startpar among them",
        ),
        PublishedRow(
            "no wait for the network ahead of dbus and the login",
            "-1 s perceived",
            ("userspace_online_unawaited", "userspace_cards_awaited"),
            caveat="`bootlab audit` names each wait for the network",
        ),
        PublishedRow("256 legacy ptys", "-2 s", ("cmdline_no_legacy_ptys",)),
        PublishedRow("usb-storage loaded ahead of udev", "-3 s of 5", ("initramfs_usb_first",)),
        PublishedRow("usb-storage out of the initrd", "-6 to -15 s", ("initramfs_pruned",)),
        PublishedRow("floppy not loaded", "-2 s", ("cmdline_module_blacklist",)),
        PublishedRow("a modprobe daemon; modprobe --all", "none, sometimes longer", ("cmdline_modules_load",)),
        PublishedRow(
            "modprobe of ALSA's and iptables' scripts",
            "-3 to -5 s, beside others: full boot as before",
            (),
            "`bootlab audit` names who runs modprobe, and how long it takes ([auditing.md](auditing.md))",
        ),
        PublishedRow(
            "harddrake out of the parallel init",
            "-3 s",
            ("cmdline_units_masked", "userspace_units_late"),
            caveat='`bootlab audit` names such units: "longer in parallel than alone"',
        ),
        PublishedRow("dkms out of the parallel init", "-2 to -4 s", (), "as harddrake"),
        PublishedRow("readahead beside parallel init", "longer", (), "the next row's came after it"),
        PublishedRow("readahead, its I/O idle", "-2 s, both timings", ("rootfs_readahead",)),
        PublishedRow(
            "readahead where the processor is what is waited for (EEE 701)",
            "none: as before",
            (),
            "the plan on `ssd`, where readahead saves an eighth of what it does on `hdd`: "
            "[screen.md](screen.md#mandrivas-steps)",
        ),
        PublishedRow(
            "the first boot learns what is read ahead, and one a month again",
            "none at the first boot",
            (),
            "the boot that learns takes longer, once; after a month the next one learns: [readahead.md](readahead.md)",
        ),
        PublishedRow("preload of the desktop", "-5 s from login to desktop", ("rootfs_preload",)),
        PublishedRow(
            "prelink",
            "X 1 s sooner, boot as before",
            (),
            "Debian has none now; its heirs are measured in [auditing.md](auditing.md#what-the-dynamic-linker-costs)",
        ),
        PublishedRow("defragmentation", "none: doubted, without figures", ("rootfs_layout",)),
        PublishedRow("quiet, of a comment", "none", ("cmdline_quiet",)),
        PublishedRow(
            "services late, when nothing reads, of a comment",
            "none",
            ("userspace_units_late",),
            caveat="bootlab-init's `defer` puts them behind the goal: [init.md](init.md)",
        ),
        PublishedRow(
            "an image of hibernation at every boot, of a comment",
            "none: doubted",
            (),
            "`--power-on hibernated`: [persistence.md](persistence.md#hibernation)",
        ),
    ),
)

FREEBSD_2022 = PublishedTable(
    name="freebsd-2022",
    title="The cloud's FreeBSD: what it lost, and where",
    where='"Boot Performance" of the FreeBSD wiki, 2017 to 2022; EC2, c5.xlarge; beside it what does the same here',
    rows=(
        PublishedRow(
            '"running" to port 22 closed, to port 22 open',
            "24.13 s; Debian 10 10.35 s, Clear Linux 1.23 s",
            (),
            '`kind = "ec2"`, `bootlab probe`, and `address_up` and `port_open` on the virtual clock: '
            "[outside.md](outside.md)",
        ),
        PublishedRow(
            "flame graphs of TSLOG",
            "none: it measures",
            (),
            "imported: `bootlab import` ([importing.md](importing.md))",
        ),
        PublishedRow(
            "the loader's reads of the kernel",
            "150 ms; first boot 500 ms more",
            ("bootloader_uki", "bootloader_efi_stub", "bootloader_direct"),
        ),
        PublishedRow(
            "the loader's cache of blocks, reading ahead, sign of life",
            "-1600, -40, -120, -80, -50 ms",
            (),
            "its own code: what each loader reads is in its phase ([images.md](images.md#phases-and-marks))",
        ),
        PublishedRow("the loader's wait (gptboot)", "-3000 ms", ("bootloader_menu_none",)),
        PublishedRow("the loader's words on the console", "45 ms", ("bootloader_no_banner",)),
        PublishedRow(
            "BIOS to UEFI",
            "-5000 ms",
            (),
            "the other way round here, and both are measured: [images.md](images.md#figures)",
        ),
        PublishedRow(
            "vm_mem, vm_page_array, by memory",
            "25 ms at 8 GB; -100 ms",
            ("kernel_deferred_pages", "machine_memory_half"),
        ),
        PublishedRow("cpu_mp, start_aps", "30 ms at 4 vCPUs; -120 ms", ("machine_one_vcpu", "cmdline_one_cpu")),
        PublishedRow(
            "clocks calibrated, or told by the hypervisor",
            "-1997 ms, -100 ms",
            ("cmdline_tsc_early_khz", "cmdline_lpj", "kernel_kvm_guest"),
        ),
        PublishedRow("acpi_timer_test", "-140 ms", (), "`bootlab audit` names `init_acpi_pm_clocksource`: delays"),
        PublishedRow("atkbd, atkbdc", "-2500 ms", ("cmdline_i8042", "machine_fewer_devices")),
        PublishedRow(
            "delays of drivers: hpt, nvme, em, acpi_ec",
            "-330, -330, 120, 800 ms",
            (),
            "`bootlab audit` names who waits by udelay and mdelay: delays, devices probed for nothing",
        ),
        PublishedRow("the kernel's words on the console", "95 ms", ("cmdline_quiet",)),
        PublishedRow(
            "characters drawn on the VGA console",
            "-1300, -500 ms",
            (),
            "its own code: `bootlab audit` has what output to the console executed",
        ),
        PublishedRow(
            "wait for the root device",
            "40 ms; -100 ms",
            (),
            "an initramfs waits here: `bootlab audit`, settle waits and sleeps in scripts",
        ),
        PublishedRow("caches of arm64 invalidated", "-300 ms", (), "its own code"),
        PublishedRow("sleeps of rc.d/netif and rtsold", "1 s each", (), "`bootlab audit`: sleeps in scripts"),
        PublishedRow(
            "devd and its devmatches", "240 ms", ("userspace_udev_few",), caveat="udev's uevents do its work here"
        ),
        PublishedRow("sleep in randomdev's write", "up to -1000 ms", ("cmdline_random_trust",)),
        PublishedRow(
            "IPv6: random delay of a router solicitation, duplicate address detection",
            "-500 and -2000 ms",
            ("userspace_ipv6_dad_none", "cmdline_ipv6_disable"),
            caveat="the last is no IPv6 at all; `bootlab audit` has the time in which addresses were tentative",
        ),
        PublishedRow(
            "what a first boot does alone",
            "dhclient 2200 ms, loader 500 ms",
            ("userspace_cloud_init_once", "userspace_cloud_init_ed25519", "userspace_cloud_init_no_growth"),
            caveat="`bootlab boot --lives 3` finds it: [images.md](images.md#first-boot-and-later-boots)",
        ),
    ),
)

TABLES = (BOARD_2019, MICROVM_2024, DISTRIBUTION_2008, FREEBSD_2022, CAR_2016)
