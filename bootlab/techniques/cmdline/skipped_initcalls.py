"""Initcalls that the kernel is told not to call: some by name, and the slowest that is known to be safe to lose.

Only names in this file are ever skipped: nothing in the kernel checks what depends on an initcall. One whose missing
makes a later call go through a null pointer is not among them: in 6.1 and 6.12 userfaultfd_init() (any program's system
call), inet6_init() (a protocol that any program may have loaded), digsig_init(), idle_inject_init(), nvme_core_init()
and tpm_init().
"""

from bootlab.system import System
from bootlab.techniques.changes.command_line import BLACKLIST, blacklisted, kernel_words, measured_words
from bootlab.techniques.changes.kernel_options import is_on, known
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.proofs import WATCH_PREFIX, never_runs
from bootlab.techniques.model.published import LINUX_612, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Applies, Change, Risk, Technique, Text

SAFE: dict[str, str] = {
    "init_blk_tracer": "blktrace: its tracer and the events it adds to tracefs",
    "init_kprobe_trace": "kprobe events in tracefs; kprobes themselves work",
    "crypto_kdf108_init": "a self-test of the key derivation function; the function needs no registration",
    "init_encrypted": "the `encrypted` key type of keyctl",
    "hpet_late_init": "/dev/hpet",
    "pnpacpi_init": "PNP devices behind ACPI, such as a second serial port",
    "i8042_init": "the PS/2 keyboard",
    "cmos_init": "/dev/rtc0; the kernel has read the clock before",
    "latency_fsnotify_init": "the notification of the latency tracer's maximum",
    "ksm_init": "merging of equal pages",
    "devlink_init": "devlink's netlink family, of switches and smart network cards",
    "efi_earlycon_remap_fb": "an EFI framebuffer console of early boot",
    "bpf_tcp_ca_kfunc_init": "TCP congestion control written in BPF",
    "bpf_dummy_struct_ops_init": "a test of BPF struct_ops",
}
"""Initcall -> what is gone without it."""


def _nameless(system: System, measured: Measured) -> str | None:
    if known(system, measured) and not is_on(system, measured, "KALLSYMS"):
        return "a kernel without KALLSYMS knows no initcall by its name"
    return None


def _ran(initcall: str) -> Applies:
    def applies(system: System, measured: Measured) -> str | None:
        if initcall in blacklisted(system):
            return f"the command line skips {initcall} already"
        if (reason := _nameless(system, measured)) is not None:
            return reason
        if measured.initcalls_ns and initcall not in measured.initcalls_ns:
            return f"the baseline boot ran no initcall {initcall}"
        return None

    return applies


def _skip(initcall: str) -> Change:
    return kernel_words(BLACKLIST + initcall, _ran(initcall))


def _slowest(system: System, measured: Measured) -> str | None:
    skipped = blacklisted(system)
    known = {name: ns for name, ns in measured.initcalls_ns.items() if name in SAFE and name not in skipped}
    return BLACKLIST + max(known, key=lambda name: known[name]) if known else None


def _one_more_is_skipped(after: Evidence, before: Evidence) -> Effect:
    marks = {WATCH_PREFIX + name for name in SAFE}
    new, old = (marks & side.marks.keys() for side in (after, before))
    if old - new:
        return Effect.PROVEN
    return Effect.NONE if new else Effect.NOT_SHOWN


TECHNIQUES = (
    Technique(
        name="cmdline_certs_builtin",
        text=Text(
            summary="does not load the certificates built into the kernel",
            mechanism=(
                "load_system_certificate_list() parses each X.509 certificate and verifies its RSA "
                "signature in plain C arithmetic. Without keys the signatures of modules cannot be "
                "verified either, so each module loads sooner, marked as unsigned."
            ),
            cost=(
                "module signatures are not checked and the kernel is tainted; where lockdown or "
                "sig_enforce is on no module loads"
            ),
            risk=Risk.SECURITY,
            published=(
                none_published(f"{LINUX_612}, certs/system_keyring.c; found in the initcall table of a measured boot"),
            ),
        ),
        change=_skip("load_system_certificate_list"),
        proof=never_runs("load_system_certificate_list"),
        removes=Removes("parsing and verifying of built-in certificates", functions=("load_system_certificate_list",)),
    ),
    Technique(
        name="cmdline_ftrace_names",
        text=Text(
            summary="does not check which traceable functions were overridden at link time",
            mechanism=(
                "ftrace_check_for_weak_functions() looks up the symbol of each of some 40,000 function "
                "entries to find those that a weak symbol left behind, in a worker thread that competes "
                "with the other initcalls."
            ),
            cost="available_filter_functions lists some functions under the name of their predecessor",
            risk=Risk.FUNCTION,
            published=(none_published(f"{LINUX_612}, kernel/trace/ftrace.c; found in the profile of a measured boot"),),
        ),
        change=_skip("ftrace_check_for_weak_functions"),
        proof=never_runs("ftrace_check_for_weak_functions"),
        removes=Removes(
            "checking of the names of traceable functions",
            functions=("ftrace_check_for_weak_functions", "ftrace_check_work_func"),
        ),
    ),
    Technique(
        name="cmdline_jitterentropy",
        text=Text(
            summary="does not start the kernel's CPU-jitter random number generator",
            mechanism=(
                "jent_mod_init() measures the CPU's timing jitter over and over, mixes each measurement into "
                "its pool (6.12 by SHA-3, 6.1 by a shift register), and runs the health tests of SP 800-90B "
                "on it. The generator is a second seed of the crypto API's DRBG, which goes on with the "
                "kernel's own generator (drbg_prepare_hrng(), crypto/drbg.c)."
            ),
            cost="the crypto API's DRBG has one source of entropy instead of two; not for FIPS mode",
            risk=Risk.SECURITY,
            published=(
                none_published(
                    f"{LINUX_612}, crypto/jitterentropy-kcapi.c; found in the initcall table of a measured boot"
                ),
            ),
        ),
        change=_skip("jent_mod_init"),
        proof=never_runs("jent_mod_init"),
        removes=Removes("the jitter random number generator", functions=("jent_mod_init",)),
    ),
    Technique(
        name="cmdline_trace_events",
        text=Text(
            summary="leaves names of constants in trace event formats untranslated",
            mechanism=(
                "trace_eval_init() walks the print format of every trace event in the kernel, searching it "
                "for every enum and sizeof that was exported, and replaces each by its number. It runs in "
                "a worker thread, but one CPU has to do it all the same."
            ),
            cost="formats below /sys/kernel/tracing/events hold names where tools such as perf expect numbers",
            risk=Risk.FUNCTION,
            published=(
                none_published(f"{LINUX_612}, kernel/trace/trace.c; found in the initcall table of a measured boot"),
            ),
        ),
        change=_skip("trace_eval_init"),
        proof=never_runs("trace_eval_init"),
        removes=Removes(
            "translation of constants in trace events",
            functions=("trace_eval_init", "eval_map_work_func", "trace_event_eval_update"),
        ),
    ),
    Technique(
        name="cmdline_tracefs",
        text=Text(
            summary="does not fill the tracing file system",
            mechanism=(
                "tracer_init_tracefs() makes a directory for each trace event, with several files in each "
                "on kernels before eventfs (Linux 6.6), and the files that control tracing."
            ),
            cost="nothing below /sys/kernel/tracing: no ftrace and no tracepoints for perf until another boot",
            risk=Risk.FUNCTION,
            published=(none_published(f"{LINUX_612}, kernel/trace/trace.c"),),
        ),
        change=_skip("tracer_init_tracefs"),
        proof=never_runs("tracer_init_tracefs"),
        removes=Removes(
            "filling of the tracing file system", functions=("tracer_init_tracefs", "tracer_init_tracefs_work_func")
        ),
    ),
    Technique(
        name="cmdline_slowest_initcall",
        text=Text(
            summary="skips the slowest initcall of the baseline boot among those that a system can do without",
            mechanism=(
                "An initcall is a function that the kernel calls once at boot to start a subsystem or a "
                "built-in driver. The kernel compares each against the list and returns at once from those "
                "on it. What looks slow may only have been interrupted by a worker thread: then the time "
                "moves elsewhere and nothing is saved."
            ),
            cost="the subsystem behind the initcall is missing; what depends on it may fail in ways nobody checks",
            risk=Risk.FUNCTION,
            published=(none_published("K612: Linux 6.12.117, init/main.c; the option is meant for diagnosis"),),
        ),
        change=measured_words(
            "initcall_blacklist=NAME, with the slowest NAME of the baseline boot that is on the list of safe ones",
            _slowest,
            "the baseline boot ran no initcall that is known to be safe to skip",
            _nameless,
        ),
        proof=Proof(_one_more_is_skipped, watch=tuple(SAFE)),
        removes=Removes("an initcall that a system can do without", functions=tuple(SAFE), each=True),
    ),
)
