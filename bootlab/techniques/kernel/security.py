"""Protections that a kernel can be built without: security modules, random addresses, cleared memory."""

from bootlab.techniques.changes.kernel_options import WantedOptions, choice, off, rebuilt_kernel
from bootlab.techniques.model.evidence import Effect, Evidence, Proof
from bootlab.techniques.model.proofs import fact_is, if_shown, initcalls_gone, line_appears, never_runs
from bootlab.techniques.model.published import LINUX_612, VENTURA_2024, Published, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Risk, Text

_RANDOM_MEMORY = Removes(
    "randomised memory regions", functions=("kernel_randomize_memory",), shortens=("[decompressor]",)
)


def _no_slide(after: Evidence, before: Evidence) -> Effect:
    if after.kaslr_slide is None or before.kaslr_slide is None:
        return Effect.NOT_SHOWN
    if after.kaslr_slide:
        return Effect.NONE
    return Effect.PROVEN if before.kaslr_slide else Effect.NOT_SHOWN


TECHNIQUES = (
    rebuilt_kernel(
        "kernel_audit_off",
        Text(
            summary="builds without the audit subsystem, and without the security modules that report to it",
            mechanism="No socket, thread and lists for rules, and no test in the path of each system call.",
            cost=(
                "no audit records, and no SELinux, AppArmor or IPE, which need it; integrity measurement (IMA) stays, "
                "without rules by label and without its messages"
            ),
            risk=Risk.SECURITY,
            published=(none_published(f"{LINUX_612}, init/Kconfig"),),
        ),
        WantedOptions(off("AUDIT"), gates=off("SECURITY_SELINUX", "SECURITY_APPARMOR")),
        shows=initcalls_gone("audit_init"),
        removes=Removes(
            "auditing",
            functions=(
                "audit_init",
                "audit_classes_init",
                "audit_watch_init",
                "audit_fsnotify_init",
                "audit_tree_init",
            ),
        ),
    ),
    rebuilt_kernel(
        "kernel_security_off",
        Text(
            summary="builds without security modules: SELinux, AppArmor, Landlock, lockdown, integrity",
            mechanism=(
                "Modules are ordered and initialised early, keep data at each inode, file and task, and "
                "load and hash policies and keys."
            ),
            cost="no mandatory access control",
            risk=Risk.SECURITY,
            published=(none_published(f"{VENTURA_2024}, kernel without it; no isolated figure"),),
        ),
        WantedOptions(off("SECURITY"), gates=off("SECURITYFS")),
        shows=fact_is("lsm", "^$"),
        removes=Removes(
            "security modules",
            functions=(
                "early_security_init",
                "security_init",
                "init_sel_fs",
                "apparmor_init",
                "aa_create_aafs",
                "init_ima",
            ),
        ),
    ),
    rebuilt_kernel(
        "kernel_kaslr_off",
        Text(
            summary="builds a kernel that lies where it was linked to",
            mechanism=(
                "The decompressor need not draw a random address, search memory for it and relocate every "
                "pointer of the image; nor are the regions of physical memory moved about."
            ),
            cost="an attacker knows where the kernel lies",
            risk=Risk.SECURITY,
            published=(none_published(f"{LINUX_612}, arch/x86/Kconfig; moot for a kernel booted through PVH"),),
        ),
        WantedOptions(off("RANDOMIZE_BASE")),
        shows=Proof(_no_slide),
        removes=_RANDOM_MEMORY,
    ),
    rebuilt_kernel(
        "kernel_relocatable_off",
        Text(
            summary="builds a kernel that runs at one address only, without a table of relocations",
            mechanism=(
                "The image carries no list of the places to be corrected, and the decompressor does not go through it."
            ),
            cost="no KASLR, no EFI stub, no kernel for crash dumps",
            risk=Risk.SECURITY,
            published=(none_published(f"{VENTURA_2024}, kernel without it; moot for a kernel booted through PVH"),),
        ),
        WantedOptions(off("RELOCATABLE"), gates=off("RANDOMIZE_BASE", "EFI_STUB", "EFI"), arch=("x86_64",)),
        shows=if_shown(Proof(_no_slide)),
        removes=_RANDOM_MEMORY,
    ),
    rebuilt_kernel(
        "kernel_strict_rwx_off",
        Text(
            summary="builds without write protection of the kernel's code and constants",
            mechanism=(
                "Sections need not be padded to the size of a page table entry, and no pass over the page "
                "tables protects them at the end of boot. On x86-64 and arm64 the protection cannot be "
                "built without; rodata=off is what there is."
            ),
            cost="code of the kernel can be overwritten",
            risk=Risk.SECURITY,
            published=(Published("rcu_barrier on this path, a part of 14 ms (6.7.3)", VENTURA_2024),),
        ),
        WantedOptions(off("STRICT_KERNEL_RWX"), arch=("armv7",)),
        shows=if_shown(line_appears("Kernel memory protection not selected by kernel config")),
    ),
    rebuilt_kernel(
        "kernel_init_on_alloc_off",
        Text(
            summary="builds so that memory is not cleared when it is allocated or freed",
            mechanism=(
                "Every page and slab object is written before it is handed out, whether or not its user "
                "writes it all anyway."
            ),
            cost="old content of kernel memory can leak through a forgotten initialisation",
            risk=Risk.SECURITY,
            published=(none_published(f"{LINUX_612}, security/Kconfig.hardening"),),
        ),
        WantedOptions(off("INIT_ON_ALLOC_DEFAULT_ON", "INIT_ON_FREE_DEFAULT_ON")),
        shows=line_appears(r"heap alloc:off, heap free:off"),
        removes=Removes("clearing of allocated memory", functions=("kernel_init_pages",)),
    ),
    rebuilt_kernel(
        "kernel_stack_init_off",
        Text(
            summary="compiles without clearing every variable on the stack at the start of its function",
            mechanism=(
                "The compiler puts stores in front of each function that has variables it cannot prove to "
                "be written first; large ones are cleared by a loop."
            ),
            cost="forgotten initialisations leak or use old stack content",
            risk=Risk.SECURITY,
            published=(none_published(f"{LINUX_612}, security/Kconfig.hardening"),),
        ),
        WantedOptions(
            choice("INIT_STACK_NONE", ("INIT_STACK_NONE", "INIT_STACK_ALL_ZERO", "INIT_STACK_ALL_PATTERN")),
            gates=off("GCC_PLUGIN_STRUCTLEAK_USER", "GCC_PLUGIN_STRUCTLEAK_BYREF", "GCC_PLUGIN_STRUCTLEAK_BYREF_ALL"),
        ),
        shows=line_appears(r"mem auto-init: stack:off"),
    ),
    rebuilt_kernel(
        "kernel_slab_hardening_off",
        Text(
            summary="builds the slab and page allocators without randomised and checked free lists",
            mechanism=(
                "Each new cache draws a random sequence, each new slab is threaded in that order, free "
                "pointers are encoded, kmalloc caches exist sixteen times (6.6), those for sizes that users "
                "choose apart (6.11), and free pages are shuffled."
            ),
            cost="a heap overflow in the kernel is easier to use",
            risk=Risk.SECURITY,
            published=(none_published(f"{LINUX_612}, mm/Kconfig"),),
        ),
        WantedOptions(
            off(
                "SLAB_FREELIST_RANDOM",
                "SLAB_FREELIST_HARDENED",
                "SHUFFLE_PAGE_ALLOCATOR",
                "RANDOM_KMALLOC_CACHES",
                "SLAB_BUCKETS",
            )
        ),
        shows=never_runs("cache_random_seq_create"),
        removes=Removes(
            "randomised free lists",
            functions=("cache_random_seq_create", "init_freelist_randomization", "shuffle_freelist", "__shuffle_zone"),
        ),
    ),
)
