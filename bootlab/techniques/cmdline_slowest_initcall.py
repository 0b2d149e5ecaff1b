"""Skip the slowest initcall of the baseline boot that is known to be safe to lose.

Only names on the list below are ever skipped: nothing in the kernel checks what depends on an initcall.
"""

from bootlab.system import System
from bootlab.techniques.cmdline import BLACKLIST, NONE_PUBLISHED, blacklisted, measured_words
from bootlab.techniques.evidence import WATCH_PREFIX
from bootlab.techniques.technique import Evidence, Measured, Proof, Removes, Risk, Source

SAFE: dict[str, str] = {
    "init_blk_tracer": "blktrace: its tracer and the events it adds to tracefs",
    "init_kprobe_trace": "kprobe events in tracefs; kprobes themselves work",
    "crypto_kdf108_init": "a self-test of the key derivation function; the function needs no registration",
    "digsig_init": "the keyring of the kernel's own digital signature API",
    "init_encrypted": "the `encrypted` key type of keyctl",
    "inet6_init": "IPv6",
    "hpet_late_init": "/dev/hpet",
    "pnpacpi_init": "PNP devices behind ACPI, such as a second serial port",
    "i8042_init": "the PS/2 keyboard",
    "cmos_init": "/dev/rtc0; the kernel has read the clock before",
    "latency_fsnotify_init": "the notification of the latency tracer's maximum",
    "idle_inject_init": "forced idling against overheating",
    "userfaultfd_init": "the userfaultfd system call",
    "ksm_init": "merging of equal pages",
    "devlink_init": "devlink's netlink family, of switches and smart network cards",
    "efi_earlycon_remap_fb": "an EFI framebuffer console of early boot",
    "nvme_core_init": "NVMe disks",
    "tpm_init": "TPM devices",
    "bpf_tcp_ca_kfunc_init": "TCP congestion control written in BPF",
    "bpf_dummy_struct_ops_init": "a test of BPF struct_ops",
}
"""Initcall -> what is gone without it."""


def _words(system: System, measured: Measured) -> str | None:
    skipped = blacklisted(system)
    known = {name: ns for name, ns in measured.initcalls_ns.items() if name in SAFE and name not in skipped}
    return BLACKLIST + max(known, key=lambda name: known[name]) if known else None


def _one_more_is_skipped(after: Evidence, before: Evidence) -> Proof:
    marks = {WATCH_PREFIX + name for name in SAFE}
    new, old = (marks & side.marks.keys() for side in (after, before))
    if old - new:
        return Proof.PROVEN
    return Proof.NO_EFFECT if new else Proof.NOT_SHOWN


TECHNIQUE = measured_words(
    name="cmdline_slowest_initcall",
    knob="initcall_blacklist=NAME, with the slowest NAME of the baseline boot that is on the list of safe ones",
    words=_words,
    missing="the baseline boot ran no initcall that is known to be safe to skip",
    summary="skips the slowest initcall of the baseline boot among those that a system can do without",
    mechanism=(
        "An initcall is a function that the kernel calls once at boot to start a subsystem or a built-in driver. The "
        "kernel compares each against the list and returns at once from those on it. What looks slow may only have "
        "been interrupted by a worker thread: then the time moves elsewhere and nothing is saved."
    ),
    cost="the subsystem behind the initcall is missing; what depends on it may fail in ways nobody checks",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, "K612: Linux 6.12.117, init/main.c; the option is meant for diagnosis"),),
    prove=_one_more_is_skipped,
    watch=tuple(SAFE),
    removes=Removes("an initcall that a system can do without", functions=tuple(SAFE), each=True),
)
