"""Protections that can be left out until the next boot: security modules, cleared memory, random addresses."""

from bootlab.techniques.changes.command_line import kernel_words
from bootlab.techniques.model.evidence import Effect, Evidence, Proof
from bootlab.techniques.model.proofs import kernel_log, line_appears
from bootlab.techniques.model.published import KATA, LINUX_612, OWN_CATALOGUE, VENTURA_2024, Published, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.subjects import APPARMOR
from bootlab.techniques.model.technique import Risk, Technique, Text

_CLEARING = {
    ("get_page_from_freelist", "__alloc_pages_bulk", "alloc_pages_bulk_noprof", "prep_new_page", "post_alloc_hook"): (
        "clear_page", "clear_page_erms", "clear_page_rep", "clear_page_orig",
    ),
    ("kmem_cache_alloc", "kmem_cache_alloc_lru", "kmem_cache_alloc_node", "__kmem_cache_alloc_node", "__kmalloc",
     "kmem_cache_alloc_noprof", "kmem_cache_alloc_lru_noprof", "kmem_cache_alloc_node_noprof", "__kmalloc_noprof",
     "__kmalloc_cache_noprof", "slab_post_alloc_hook"): ("memset", "memset_erms", "memset_orig", "__memset"),
}  # fmt: skip
"""Allocators -> what they clear memory with. Some callers ask for cleared memory, and would go on getting it."""


def _not_among_modules(after: Evidence, before: Evidence) -> Effect:
    if "lsm" not in after.facts:
        return Effect.NOT_SHOWN
    new, old = (set(side.facts.get("lsm", "").split(",")) for side in (after, before))
    if "apparmor" in new:
        return Effect.NONE
    return Effect.PROVEN if "apparmor" in old else Effect.NOT_SHOWN


def _fewer_modules(after: Evidence, before: Evidence) -> Effect:
    # Capabilities cannot be left out, and some kernels add integrity modules of their own accord.
    if "lsm" not in after.facts or "lsm" not in before.facts:
        return Effect.NOT_SHOWN
    new, old = (set(side.facts["lsm"].split(",")) for side in (after, before))
    return Effect.PROVEN if new < old else Effect.NONE


def _more_is_vulnerable(after: Evidence, before: Evidence) -> Effect:
    # /sys/devices/system/cpu/vulnerabilities is what the kernel did, not what it was told.
    new, old = (_vulnerable(side) for side in (after, before))
    if new is None or old is None:
        return Effect.NOT_SHOWN
    return Effect.PROVEN if new > old else Effect.NONE


def _vulnerable(evidence: Evidence) -> int | None:
    states = [value for key, value in evidence.facts.items() if key.startswith("vulnerabilities.")]
    return sum("Vulnerable" in state for state in states) if states else None


def _slide_is_gone(after: Evidence, before: Evidence) -> Effect:
    if after.kaslr_slide is None:
        return Effect.NOT_SHOWN
    if after.kaslr_slide != 0:
        return Effect.NONE
    return Effect.PROVEN if before.kaslr_slide else Effect.NOT_SHOWN


def _crng_is_ready_sooner(after: Evidence, before: Evidence) -> Effect:
    # No stamp is compared: the message moves up in the order of the log when the seed comes from CPU or bootloader.
    new, old = (_place(side) for side in (after, before))
    if new is None:
        return Effect.NOT_SHOWN
    if old is None:
        return Effect.PROVEN
    return Effect.PROVEN if new < old else Effect.NOT_SHOWN


def _place(evidence: Evidence) -> int | None:
    log = kernel_log(evidence.facts, evidence.console)
    return next((number for number, line in enumerate(log) if "crng init done" in line), None)


TECHNIQUES = (
    Technique(
        name="cmdline_apparmor_off",
        text=Text(
            summary="starts the kernel without AppArmor",
            mechanism=(
                "AppArmor is Debian's default security module: it creates its root namespace and "
                "unconfined profiles, sets up hashing of policies, and labels every task and file from "
                "then on."
            ),
            cost="profiles that confine services are not enforced",
            risk=Risk.SECURITY,
            published=(none_published(OWN_CATALOGUE),),
        ),
        change=kernel_words("apparmor=0"),
        proof=Proof(_not_among_modules),
        removes=APPARMOR,
    ),
    Technique(
        name="cmdline_audit_off",
        text=Text(
            summary="turns the audit subsystem off until reboot",
            mechanism=(
                "audit_init() sets up its netlink socket, hash tables and kauditd thread at boot, and "
                "system calls of audited tasks are recorded from then on."
            ),
            cost="no audit trail: logins, denials of SELinux and AppArmor are not recorded",
            risk=Risk.SECURITY,
            published=(none_published(OWN_CATALOGUE),),
        ),
        change=kernel_words("audit=0"),
        proof=line_appears(r"audit: disabled"),
        removes=Removes(
            "the audit subsystem",
            functions=("audit_init", "audit_watch_init", "audit_fsnotify_init", "audit_tree_init"),
        ),
    ),
    Technique(
        name="cmdline_init_on_alloc_off",
        text=Text(
            summary="does not clear memory when the kernel allocates it",
            mechanism=(
                "Debian builds with CONFIG_INIT_ON_ALLOC_DEFAULT_ON: each page and slab object is zeroed "
                "when it is handed out, even when its user overwrites it at once. Boot allocates nearly "
                "everything there is for the first time."
            ),
            cost="data left in freed memory can leak through a kernel bug that reads uninitialised memory",
            risk=Risk.SECURITY,
            published=(none_published(f"{LINUX_612}; no figure read"),),
        ),
        change=kernel_words("init_on_alloc=0"),
        proof=line_appears("heap alloc:off"),
        removes=Removes(
            "clearing of memory that is handed out",
            functions=tuple(
                f"{caller}/{function}"
                for callers, functions in _CLEARING.items()
                for caller in callers
                for function in functions
            ),
        ),
    ),
    Technique(
        name="cmdline_lsm_none",
        text=Text(
            summary="starts no security module beyond capabilities",
            mechanism=(
                "Each security module initialises its policy structures, allocates blobs for every "
                "credential, inode and task, and registers hooks that every later system call goes through."
            ),
            cost="no AppArmor, SELinux, Landlock, Yama or lockdown: all mandatory access control is gone",
            risk=Risk.SECURITY,
            published=(none_published(f"{KATA} uses selinux=0; no isolated figure read"),),
        ),
        change=kernel_words("lsm="),
        proof=Proof(_fewer_modules),
        removes=Removes(
            "security modules",
            functions=(
                *APPARMOR.functions,
                "selinux_init",
                "tomoyo_init",
                "yama_init",
                "landlock_init",
                "integrity_iintcache_init",
                "lockdown_lsm_init",
            ),
        ),
    ),
    Technique(
        name="cmdline_mitigations_off",
        text=Text(
            summary="turns off the mitigations of CPU vulnerabilities",
            mechanism=(
                "Page table isolation, retpolines, and clearing of buffers and branch predictors are "
                "patched into the kernel at boot and then run at every entry from user mode. Without them "
                "fewer sites are patched and each system call is shorter; a kernel that only patches "
                "retpolines out may also boot longer."
            ),
            cost="other guests and unprivileged programs can read memory through speculative execution",
            risk=Risk.SECURITY,
            published=(none_published(f"{LINUX_612}; {VENTURA_2024} used it; no isolated figure read"),),
        ),
        change=kernel_words("mitigations=off"),
        proof=Proof(_more_is_vulnerable),
    ),
    Technique(
        name="cmdline_nokaslr",
        text=Text(
            summary="does not move the kernel to a random address",
            mechanism=(
                "The decompressor otherwise gathers entropy, parses the memory map for free slots, and "
                "after decompressing applies every relocation of the kernel; later the direct map and "
                "vmalloc areas are randomised too."
            ),
            cost="an attacker knows where the kernel is: exploits need no address leak",
            risk=Risk.SECURITY,
            published=(none_published(f"{LINUX_612}; moot for an uncompressed vmlinux"),),
        ),
        change=kernel_words("nokaslr"),
        proof=Proof(_slide_is_gone),
    ),
    Technique(
        name="cmdline_random_trust",
        text=Text(
            summary="lets the CPU's and the bootloader's random numbers count as entropy at once",
            mechanism=(
                "Without trust the generator waits for timing jitter and interrupts before getrandom() "
                "returns, which stalls early user space. Where the kernel trusts both by default nothing "
                "changes."
            ),
            cost="a backdoored CPU generator would be believed",
            risk=Risk.SECURITY,
            published=(
                Published(
                    "-2.3 s for a guest on -cpu qemu64 when virtio-rng is present (crng done at 4.7 s without it)",
                    "KMS: schlarpc/kmsrsos issue 339",
                ),
                none_published(f"{LINUX_612}, drivers/char/random.c:811: on by default"),
            ),
        ),
        change=kernel_words("random.trust_cpu=on random.trust_bootloader=on"),
        proof=Proof(_crng_is_ready_sooner),
    ),
    Technique(
        name="cmdline_rodata_off",
        text=Text(
            summary="leaves the kernel's code and constants writable",
            mechanism=(
                "mark_rodata_ro() splits the large pages of the kernel image at section boundaries, "
                "changes their protection, flushes the TLBs, frees the gaps and then checks for writable "
                "executable pages."
            ),
            cost="W^X is gone: a kernel bug that writes to code or constants succeeds",
            risk=Risk.SECURITY,
            published=(
                Published("rcu_barrier on the mark_rodata_ro path, part of 14 ms (Linux 6.7.3)", VENTURA_2024),
                none_published(f"{LINUX_612}, init/main.c: mark_readonly() has no direct rcu_barrier"),
            ),
        ),
        change=kernel_words("rodata=off"),
        proof=line_appears("Kernel memory protection disabled"),
        removes=Removes(
            "write protection of the kernel and the check of it",
            functions=(
                "mark_rodata_ro",
                "ptdump_check_wx",
                "ptdump_walk_pgd_level_checkwx",
                "ptdump_walk_pgd_level_core",
            ),
        ),
    ),
)
