"""The rows of the car: K. Kato, Panasonic, 2016, and what they are called here."""

from bootlab.techniques.page.published_row import PublishedRow, PublishedTable

CAR_2016 = PublishedTable(
    name="car-2016",
    title="The car: 9.6 s less",
    where='K. Kato, "Improvement of Start-up Time on Linux-Based IVI System", Panasonic, 2016; two Cortex-A15, eMMC',
    rows=(
        PublishedRow(
            "each phase, and what it is bound by",
            "bootloader 5.9 s, kernel 1.1 s, system init 3.0 s, services 6.0 s",
            (),
            "`[timings]`; `bootlab profile` says what each is bound by: "
            "[cases/ivi.md](cases/ivi.md#phases-and-what-binds-them)",
        ),
        PublishedRow(
            "bootloader: kernel and root in RAM that outlives power-off",
            "5.9 -> 0.15 s",
            ("rootfs_kept_ram",),
            caveat="the root alone, for QEMU has the kernel in memory: what is spared is the reading of files, and not "
            "the loading of all, [cases/ivi.md](cases/ivi.md#the-first-step); kernel and root of the armv7 board, "
            "`card.kept_ram`: [persistence.md](persistence.md#a-board-whose-spl-looks)",
        ),
        PublishedRow(
            "only the programs that the start needs are in that RAM",
            "none",
            (),
            "`rootfs.kept_ram.without`, of what `bootlab unused` lists: "
            "[persistence.md](persistence.md#a-root-in-kept-ram)",
        ),
        PublishedRow(
            "PRAMFS for it: in place, not lost by a reboot, no extra RAM",
            "none",
            (),
            "not in Linux any more; erofs or ext4 in its place, by `rootfs.kept_ram.dax` without extra RAM, or on "
            "dm-verity and read through the page cache: [persistence.md](persistence.md#dax-or-page-cache)",
        ),
        PublishedRow("drivers initialised in parallel", "1.1 -> 0.8 s", ("cmdline_driver_async_probe",)),
        PublishedRow(
            "init in C for shell scripts, processes in parallel",
            "-2.3 s, -0.13 s",
            ("userspace_bootlab_init", "userspace_one_script", "rootfs_direct_init"),
            caveat="one step here; bootlab-init beside five others: [cases/inits.md](cases/inits.md)",
        ),
        PublishedRow(
            "udev: devices that are always there left out",
            "-0.3 s (one slide's heading has msec)",
            ("userspace_udev_fixed", "userspace_udev_few"),
        ),
        PublishedRow(
            "eMMC's DMA as if memory were in one piece",
            "11,029 -> 2,221 interrupts/s, 57.1 -> 71.5 MB/s, CPU 26.6 -> 9.0 %; services 6.0 -> 5.2 s",
            ("rootfs_readahead",),
            caveat="no technique is that: a virtio disk takes pages wherever they lie; read-ahead makes fewer "
            "requests, and `examples/transfer.toml` has what each costs of two drivers "
            "([disk.md](disk.md#what-a-request-costs))",
        ),
        PublishedRow(
            "an opening picture in system init",
            "none",
            ("initramfs_opening_picture",),
            caveat="from the first process; none from a bootloader, because `virt` has none here",
        ),
        PublishedRow(
            "all of it",
            "9.6 s less; its phases are 16.0 -> 6.45 s in all",
            (),
            "the plan `ivi-2012`: [cases/ivi.md](cases/ivi.md#the-ladder)",
        ),
        PublishedRow(
            "wake-up by CAN, ahead of ignition",
            "none: planned",
            (),
            "by the clock's alarm or a key: `[wake]`, [persistence.md](persistence.md#early-wake-up); "
            "not by CAN, because no card of QEMU's wakes its machine ([scope.md](scope.md#not-yet))",
        ),
        PublishedRow(
            "suspend and resume",
            "none: planned",
            (),
            "`--power-on suspended`, of x86-64: [persistence.md](persistence.md#suspend)",
        ),
        PublishedRow(
            "boot from a snapshot",
            "none: planned",
            (),
            "`--power-on hibernated`, `bootlab snapshot`: [persistence.md](persistence.md#hibernation), "
            "[snapshots.md](snapshots.md)",
        ),
        PublishedRow(
            "what kept RAM takes of the battery",
            "18.0 mA at 12 V, 4 GB of DDR3; LP-DDR4 2.2 mA",
            (),
            "beside the milliseconds in [persistence.md](persistence.md#figures)",
        ),
        PublishedRow(
            "a next eMMC",
            "80 -> 300 MB/s expected",
            (),
            '`rootfs.model = { like = "emmc", read_bytes_s = 300000000 }`, and `bootlab compare`: [disk.md](disk.md)',
        ),
    ),
)
