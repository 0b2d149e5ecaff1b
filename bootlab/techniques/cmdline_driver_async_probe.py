"""Probe devices in parallel."""

from bootlab.techniques.cmdline import kernel_words
from bootlab.techniques.evidence import now_runs
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = kernel_words(
    name="cmdline_driver_async_probe",
    words="driver_async_probe=*",
    summary="lets every driver probe its devices in a thread of its own while initcalls go on",
    mechanism=(
        "By default only drivers that ask for it probe asynchronously (nvme, sd, some MMC hosts; not virtio, 8250, "
        "ahci). With the option each probe is handed to a worker, so one that sleeps holds up nobody; on one CPU only "
        "waiting overlaps."
    ),
    cost="devices appear in another order, and a driver that relies on the order may fail; a root device may come late",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            "3 s -> 300 ms together with hot-added memory, fewer modules and another root file system",
            "CL: Phoronix, Clear Linux kernel 3 s to 300 ms",
        ),
    ),
    prove=now_runs("__driver_attach_async_helper"),
    watch=("__driver_attach_async_helper",),
)
