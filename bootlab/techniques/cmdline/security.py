"""Protections that can be left out until the next boot: security modules, cleared memory, random addresses."""

import re

from bootlab.system import KernelEntry, System
from bootlab.techniques.changes.command_line import kernel_words, word_value
from bootlab.techniques.changes.kernel_options import is_on, known
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.proofs import (
    find_line,
    kernel_log,
    line_appears,
    line_vanishes,
    log_says,
    more_is_vulnerable,
)
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


_TRUST = "random.trust_cpu=on random.trust_bootloader=on"
_TRUST_OPTIONS = ("RANDOM_TRUST_CPU", "RANDOM_TRUST_BOOTLOADER")
_TRUSTS_BY_ITSELF = (6, 2)
"""The Linux that trusts both without an option: commit b9b01a5625b5."""


def _runs_apparmor(system: System, measured: Measured) -> str | None:
    modules = measured.facts.get("lsm")
    if modules is not None and "apparmor" not in modules.split(","):
        return "the baseline boot ran without AppArmor"
    return None


def _has_audit(system: System, measured: Measured) -> str | None:
    return "AUDIT is off in this kernel" if known(system, measured) and not is_on(system, measured, "AUDIT") else None


def _clears_memory(system: System, measured: Measured) -> str | None:
    if log_says(measured.facts, measured.console, "heap alloc:off"):
        return "the kernel does not clear what it hands out"
    return None


def _is_moved(system: System, measured: Measured) -> str | None:
    if system.kernel.entry is KernelEntry.PVH:
        return "kernel.entry is pvh, and what moves a kernel is the decompressor that does not run"
    if known(system, measured) and not is_on(system, measured, "RANDOMIZE_BASE"):
        return "RANDOMIZE_BASE is off in this kernel"
    return None


def _distrusts(system: System, measured: Measured) -> str | None:
    if "off" in (word_value(system, key) for key in ("random.trust_cpu", "random.trust_bootloader")):
        return None
    found = find_line(measured.facts, measured.console, r"^Linux version (\d+)\.(\d+)")
    if found is not None and (int(found[1]), int(found[2])) >= _TRUSTS_BY_ITSELF:
        return "Linux trusts both by itself since 6.2"
    if known(system, measured) and all(is_on(system, measured, option) for option in _TRUST_OPTIONS):
        return f"the kernel trusts both by itself ({', '.join(_TRUST_OPTIONS)})"
    return None


def _no_apparmor_and_nothing_else(after: Evidence, before: Evidence) -> Effect:
    if "lsm" not in after.facts or "lsm" not in before.facts:
        return Effect.NOT_SHOWN
    new, old = (set(side.facts["lsm"].split(",")) for side in (after, before))
    if "apparmor" in new:
        return Effect.NONE
    # One that starts in its place does the same work, or more: the option did something, and spared nothing.
    return Effect.PROVEN if "apparmor" in old and not new - old else Effect.NOT_SHOWN


def _fewer_modules(after: Evidence, before: Evidence) -> Effect:
    # Capabilities cannot be left out, and some kernels add integrity modules of their own accord.
    if "lsm" not in after.facts or "lsm" not in before.facts:
        return Effect.NOT_SHOWN
    new, old = (set(side.facts["lsm"].split(",")) for side in (after, before))
    return Effect.PROVEN if new < old else Effect.NONE


def _slide_is_gone(after: Evidence, before: Evidence) -> Effect:
    if after.kaslr_slide is None:
        return Effect.NOT_SHOWN
    if after.kaslr_slide != 0:
        return Effect.NONE
    return Effect.PROVEN if before.kaslr_slide else Effect.NOT_SHOWN


def _crng_is_ready_sooner(after: Evidence, before: Evidence) -> Effect:
    # No stamp is compared: the message moves up past others when the seed comes from CPU or bootloader.
    first, later = _around_crng(after)
    earlier, _ = _around_crng(before)
    if first is None:
        return Effect.NOT_SHOWN
    if earlier is None:
        silent = log_says(before.facts, before.console, _CRNG_READY) is False
        return Effect.PROVEN if silent else Effect.NOT_SHOWN
    return Effect.PROVEN if set(earlier) & set(later) - set(first) else Effect.NOT_SHOWN


_CRNG_READY = "crng init done"


def _around_crng(evidence: Evidence) -> tuple[list[str] | None, list[str]]:
    # The messages before it, None when it is not there, and those after it; without numbers, which differ by boot.
    log = [re.sub(r"\d+", "", line) for line in kernel_log(evidence.facts, evidence.console)]
    place = next((number for number, line in enumerate(log) if _CRNG_READY in line), None)
    return (None, log) if place is None else (log[:place], log[place + 1 :])


TECHNIQUES = (
    Technique(
        name="cmdline_apparmor_off",
        text=Text(
            summary="starts the kernel without AppArmor",
            mechanism=(
                "AppArmor is Debian's default security module: it creates its root namespace and "
                "unconfined profiles, sets up hashing of policies, and labels every task and file from "
                "then on. Only one module of its kind runs (LSM_FLAG_EXCLUSIVE, security/security.c): "
                "without AppArmor the next one in CONFIG_LSM starts, on Debian SELinux, whose start can take "
                "longer; cmdline_lsm_none starts none."
            ),
            cost=(
                "profiles that confine services are not enforced; SELinux or Smack, where the kernel has it, "
                "starts instead, without a policy"
            ),
            risk=Risk.SECURITY,
            published=(none_published(OWN_CATALOGUE),),
        ),
        change=kernel_words("apparmor=0", _runs_apparmor),
        proof=Proof(_no_apparmor_and_nothing_else),
        removes=APPARMOR,
    ),
    Technique(
        name="cmdline_audit_off",
        text=Text(
            summary="turns the audit subsystem off until reboot",
            mechanism=(
                "audit_init() (kernel/audit.c) sets up a netlink socket in each network namespace, a cache, "
                "hash tables and the kauditd thread at boot; with the option it returns at once. The groups "
                "that watch files for audit rules are made all the same."
            ),
            cost="no audit trail: logins, denials of SELinux and AppArmor are not recorded",
            risk=Risk.SECURITY,
            published=(none_published(OWN_CATALOGUE),),
        ),
        change=kernel_words("audit=0", _has_audit),
        # "audit: disabled" is what the parameter's own parser says.
        proof=line_vanishes("audit: initializing netlink subsys"),
        removes=Removes("the start of the audit subsystem", functions=("audit_init",)),
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
        change=kernel_words("init_on_alloc=0", _clears_memory),
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
            summary="starts no security module beyond capabilities and those that a kernel always starts",
            mechanism=(
                "Each security module initialises its policy structures, allocates blobs for every "
                "credential, inode and task, and registers hooks that every later system call goes through. "
                "With an empty list those stay that have a fixed place: capabilities, lockdown where it is "
                "built to start early, and on 6.12 IMA and EVM (security/security.c)."
            ),
            cost="no AppArmor, SELinux, Smack, TOMOYO, Landlock or Yama: all mandatory access control is gone",
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
            ),
        ),
    ),
    Technique(
        name="cmdline_mitigations_off",
        text=Text(
            summary="turns off the mitigations of CPU vulnerabilities",
            mechanism=(
                "Page table isolation and clearing of buffers and branch predictors are patched into the "
                "kernel at boot and then run at every entry from user mode; without them fewer sites are "
                "patched and each system call is shorter. Retpolines are compiled in, and are patched out "
                "one by one where they are off (apply_retpolines(), arch/x86/kernel/alternative.c): a CPU "
                "that needs little else may boot longer."
            ),
            cost="other guests and unprivileged programs can read memory through speculative execution",
            risk=Risk.SECURITY,
            published=(none_published(f"{LINUX_612}; {VENTURA_2024} used it; no isolated figure read"),),
        ),
        change=kernel_words("mitigations=off"),
        proof=more_is_vulnerable(),
    ),
    Technique(
        name="cmdline_nokaslr",
        text=Text(
            summary="does not move the kernel to a random address",
            mechanism=(
                "On x86-64 the decompressor otherwise gathers entropy, parses the memory map for free slots, "
                "and after decompressing applies every relocation of the kernel (handle_relocations()); "
                "later the direct map and vmalloc areas are randomised too. Kernels of arm64, and of riscv64 "
                "since 6.6, relocate themselves."
            ),
            cost="an attacker knows where the kernel is: exploits need no address leak",
            risk=Risk.SECURITY,
            published=(none_published(f"{LINUX_612}; moot for an uncompressed vmlinux"),),
        ),
        change=kernel_words("nokaslr", _is_moved),
        proof=Proof(_slide_is_gone),
    ),
    Technique(
        name="cmdline_random_trust",
        text=Text(
            summary="lets the CPU's and the bootloader's random numbers count as entropy at once",
            mechanism=(
                "Without trust the generator waits for timing jitter and interrupts before getrandom() "
                "returns, which stalls early user space. 6.1 trusts as RANDOM_TRUST_CPU and "
                "RANDOM_TRUST_BOOTLOADER say (Debian's: both); since 6.2 both are trusted unless told "
                "otherwise (drivers/char/random.c), and nothing changes."
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
        change=kernel_words(_TRUST, _distrusts),
        proof=Proof(_crng_is_ready_sooner),
    ),
    Technique(
        name="cmdline_rodata_off",
        text=Text(
            summary="leaves the kernel's code and constants writable",
            mechanism=(
                "mark_rodata_ro() splits the large pages of the kernel image at section boundaries, "
                "changes their protection, flushes the TLBs and frees the gaps; a kernel with DEBUG_WX then "
                "checks for writable executable pages. Modules keep writable code too."
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
