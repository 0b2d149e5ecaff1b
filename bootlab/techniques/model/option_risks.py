"""What is lost with an option of the kernel: protections by their group, functions by their kind, and how grave it is.

A protection whose ground goes with it is no loss of its own: without modules nothing is left for their signatures to
guard. Options that are not here are taken for parts of others, or for what nobody asks a kernel for by itself.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from bootlab.build.source.renamed_options import find_new_name
from bootlab.techniques.model.technique import Risk

Changes = Mapping[str, tuple[str, str]]
"""Option -> its value before and after; `n` is off."""


class Protection(StrEnum):
    """Groups of options that protect."""

    MITIGATIONS = "mitigations"
    HARDENING = "hardening"
    ACCESS = "access-control"
    SIGNING = "signing"


PROTECTIONS = (
    (
        re.compile(
            r"CPU_MITIGATIONS|MITIGATION_\w+|SPECULATION_\w+|RETPOLINE|RETHUNK|CPU_\w*_ENTRY|SLS|X86_KERNEL_IBT|CFI(_CLANG)?"
            r"|X86_USER_SHADOW_STACK|X86_BUS_LOCK_DETECT|UNMAP_KERNEL_AT_EL0|ARM64_(BTI|PTR_AUTH|MTE|PAN|E0PD)\w*"
            r"|SHADOW_CALL_STACK|ARM64_SW_TTBR0_PAN|CPU_SW_DOMAIN_PAN|HARDEN_BRANCH_\w+|MITIGATE_SPECTRE_BRANCH_HISTORY"
        ),
        Protection.MITIGATIONS,
    ),
    (
        re.compile(
            r"STACKPROTECTOR\w*|STRICT_\w+|IO_STRICT_DEVMEM|RANDOMIZE_\w+|RANDOM_KMALLOC_CACHES|HARDENED_USERCOPY\w*"
            r"|FORTIFY_SOURCE|VMAP_STACK|INIT_ON_\w+|INIT_STACK_\w+|SLAB_FREELIST_\w+|SHUFFLE_PAGE_ALLOCATOR|SLAB_BUCKETS|BUG"
            r"|BUG_ON_DATA_CORRUPTION|LIST_HARDENED|ZERO_CALL_USED_REGS|SCHED_STACK_END_CHECK|DEBUG_WX|X86_SMAP|X86_UMIP"
            r"|ARCH_MMAP_RND_\w+|LEGACY_VSYSCALL_NONE|STATIC_USERMODEHELPER|PAGE_TABLE_CHECK\w*|KFENCE|REFCOUNT_FULL"
            r"|BPF_UNPRIV_DEFAULT_OFF|BPF_JIT_ALWAYS_ON|SECURITY_DMESG_RESTRICT|RESET_ATTACK_MITIGATION|GCC_PLUGIN_STACKLEAK"
            r"|KSTACK_ERASE|RANDSTRUCT_(FULL|PERFORMANCE)|UBSAN_BOUNDS|SYN_COOKIES|IOMMU_DEFAULT_DMA_STRICT"
            r"|PROC_MEM_(NO_FORCE|FORCE_PTRACE)"
        ),
        Protection.HARDENING,
    ),
    (re.compile(r"SECCOMP\w*|AUDIT|AUDITSYSCALL|LSM|KEYS|MULTIUSER|USER_NS|SECRETMEM"), Protection.ACCESS),
    (
        re.compile(
            r"MODULE_SIG\w*|KEXEC_SIG\w*|KEXEC_VERIFY_SIG|SYSTEM_\w*(KEYRING|KEYS|HASH_LIST)|DM_VERITY\w*|FS_VERITY\w*"
            r"|DM_CRYPT|RANDOM_TRUST_\w+"
        ),
        Protection.SIGNING,
    ),
)
"""Protections that can be told by their names: what of them is kept because it did not run is `bootlab tailor`'s."""


@dataclass(frozen=True, slots=True)
class Loss:
    """An option that a kernel lost, or was given in the place of a protection, and what that means."""

    option: str
    risk: Risk
    what: str
    """The kind in words, as `security modules`."""


@dataclass(frozen=True, slots=True)
class _OptionKind:
    names: re.Pattern[str]
    risk: Risk
    what: str
    ground: str = ""
    """An option without which there is nothing left to protect."""
    ground_of: tuple[tuple[re.Pattern[str], str], ...] = ()
    """Names -> their ground, of some."""


def _names(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


_GROUNDS = (
    (_names(r"MODULE_SIG\w*|STRICT_MODULE_RWX|RANDOMIZE_MODULE_\w+"), "MODULES"),
    (_names(r"KEXEC_SIG\w*|KEXEC_VERIFY_SIG"), "KEXEC_FILE"),
    (_names(r"DM_VERITY\w*|FS_VERITY\w*|DM_CRYPT|IPE_PROP_\w+"), "BLOCK"),
    (_names(r"(IO_)?STRICT_DEVMEM"), "DEVMEM"),
    (_names(r"BPF_UNPRIV_DEFAULT_OFF|BPF_JIT_ALWAYS_ON"), "BPF_SYSCALL"),
    (_names(r"SECURITY_DMESG_RESTRICT"), "PRINTK"),
    (_names(r"MITIGATION_VMSCAPE"), "KVM"),
    (_names(r"SYN_COOKIES"), "INET"),
    (_names(r"PROC_MEM_\w+"), "PROC_FS"),
    (_names(r"IOMMU_DEFAULT_DMA_STRICT"), "IOMMU_SUPPORT"),
)
_KINDS = (
    # Of a protection's name, but none: IBRS is what these CPUs have by default (retbleed=auto).
    _OptionKind(_names(r"MITIGATION_CALL_DEPTH_TRACKING|CALL_DEPTH_TRACKING"), Risk.NONE, "another mitigation does"),
    # A report of a mistake, and no guard against it.
    _OptionKind(_names(r"DEBUG_WX|BUG"), Risk.FUNCTION, "a report of errors"),
    *(_OptionKind(names, Risk.SECURITY, group.value, ground_of=_GROUNDS) for names, group in PROTECTIONS),
    _OptionKind(
        _names(
            r"SECURITY|SECURITY_\w+|DEFAULT_SECURITY_\w+|BPF_LSM|INTEGRITY\w*|IMA(_\w+)?|EVM(_\w+)?|LOCK_DOWN_\w+|IPE_\w+"
        ),
        Risk.SECURITY,
        "security modules",
        ground_of=_GROUNDS,
    ),
    _OptionKind(_names(r"IP6_NF_(IPTABLES|FILTER)|NF_TABLES_IPV6"), Risk.SECURITY, "packet filters", ground="IPV6"),
    _OptionKind(
        # A rule set of the family inet, nftables' usual one, is refused as a whole.
        _names(r"NETFILTER|NF_TABLES(_(INET|IPV4|NETDEV))?|IP_NF_(IPTABLES|FILTER)|NF_CONNTRACK"),
        Risk.SECURITY,
        "packet filters",
        ground="INET",
    ),
    _OptionKind(
        _names(r"CGROUP_(BPF|DEVICE)"), Risk.SECURITY, "limits of services to devices, networks", ground="CGROUPS"
    ),
    _OptionKind(_names(r"IPC_NS"), Risk.SECURITY, "isolation of services and containers", ground="SYSVIPC"),
    _OptionKind(_names(r"(PID|NET)_NS|NAMESPACES"), Risk.SECURITY, "isolation of services and containers"),
    _OptionKind(_names(r"PROC_SYSCTL"), Risk.SECURITY, "settings that protect, as fs.protected_symlinks"),
    _OptionKind(_names(r"(INTEL|AMD)_IOMMU|ARM_SMMU(_V3)?"), Risk.SECURITY, "protection from devices", ground="PCI"),
    _OptionKind(
        _names(r"AMD_MEM_ENCRYPT|INTEL_TDX_GUEST|SEV_GUEST|TCG_TPM"),
        Risk.SECURITY,
        "encrypted memory and measured boots",
    ),
    _OptionKind(
        _names(
            r"NET|INET|IPV6|UNIX|PACKET|NETDEVICES|WIRELESS|WLAN|BT|VSOCKETS|BRIDGE|VLAN_8021Q|TUN|VETH|XFRM|IP_PNP\w*|WAN"
            r"|\w+_FS|SYSFS|TMPFS|HUGETLBFS|SHMEM|DEVTMPFS\w*|QUOTA|FANOTIFY|INOTIFY_USER|DNOTIFY|FILE_LOCKING|SWAP|COREDUMP|BINFMT_\w+"
        ),
        Risk.FUNCTION,
        "networks and file systems",
    ),
    _OptionKind(
        _names(
            r"BLOCK|BLK_DEV(_\w+)?|SCSI|ATA|NVME_CORE|MMC|MD|PCI|USB|USB_SUPPORT|INPUT|HID|SERIO|VT|TTY|SERIAL_\w+|UNIX98_PTYS"
            r"|DRM|FB|SOUND|VIRTIO(_\w+)?|RTC_CLASS|WATCHDOG|HW_RANDOM|I2C|SPI|MEDIA_SUPPORT|IOMMU_SUPPORT"
        ),
        Risk.FUNCTION,
        "devices",
    ),
    _OptionKind(
        _names(
            r"ACPI|EFI|DMI|SUSPEND|HIBERNATION|PM|CPU_FREQ|CPU_IDLE|THERMAL|SMP|HOTPLUG_CPU|NUMA|X86_MCE|KVM|IA32_EMULATION"
            r"|HIGH_RES_TIMERS"
        ),
        Risk.FUNCTION,
        "what the machine can do",
    ),
    _OptionKind(
        _names(
            r"CGROUPS|CGROUP_\w+|MEMCG|CPUSETS|\w+_NS|SYSVIPC|POSIX_\w+|AIO|IO_URING|FUTEX|EPOLL|EVENTFD|SIGNALFD|TIMERFD"
            r"|FHANDLE|USERFAULTFD|RSEQ|MEMBARRIER|BPF_SYSCALL|MODULES|KEXEC(_FILE)?|CRYPTO_FIPS|PREEMPT_DYNAMIC"
        ),
        Risk.FUNCTION,
        "what programs can ask for",
    ),
    _OptionKind(
        _names(
            r"PRINTK|KALLSYMS|MAGIC_SYSRQ|FTRACE|\w+_TRACER|KPROBES|UPROBES|PERF_EVENTS|PROFILING|DEBUG_FS|PROC_\w+|SCHEDSTATS"
            r"|(SOFT|HARD)LOCKUP_DETECTOR|DETECT_HUNG_TASK|LIVEPATCH|CRASH_DUMP|STACKTRACE|DYNAMIC_DEBUG|DEBUG_INFO_BTF"
        ),
        Risk.FUNCTION,
        "what tells of the kernel",
    ),
)
# What is on in the place of a protection.
_WEAKENS = _OptionKind(
    _names(
        r"INIT_STACK_NONE|RANDSTRUCT_NONE|COMPAT_BRK|LEGACY_VSYSCALL_EMULATE|DEFAULT_SECURITY_DAC|DEVMEM|DEVKMEM"
        r"|PROC_MEM_ALWAYS_FORCE|IOMMU_DEFAULT_(DMA_LAZY|PASSTHROUGH)"
    ),
    Risk.SECURITY,
    "in the place of a protection",
)
# Numbers that protect more the greater they are.
_LESS_BY_NUMBER = _names(r"(DEFAULT|LSM)_MMAP_MIN_ADDR|ARCH_MMAP_RND_(COMPAT_)?BITS|INET_TABLE_PERTURB_ORDER")
_ORDER = tuple(Risk)


def protection_of(option: str) -> Protection | None:
    """Return the group of protections that an option is of, told by its name; None for any other."""
    return next((group for names, group in PROTECTIONS if names.fullmatch(option)), None)


def losses(changes: Changes, after: Mapping[str, str]) -> tuple[Loss, ...]:
    """Return what a kernel lost that matters, the gravest first; `after`: the options that it has on."""
    found = [loss for option, (was, now) in changes.items() if (loss := _loss(option, was, now, after)) is not None]
    return tuple(sorted(found, key=lambda one: (-_ORDER.index(one.risk), one.option)))


def worst(risks: Iterable[Risk]) -> Risk:
    """Return the gravest of some risks; none of no risk."""
    return max(risks, key=_ORDER.index, default=Risk.NONE)


def _loss(option: str, was: str, now: str, after: Mapping[str, str]) -> Loss | None:
    if was == "n" and now != "n":
        return Loss(option, _WEAKENS.risk, _WEAKENS.what) if _WEAKENS.names.fullmatch(option) else None
    if was != "n" and now != "n":
        return _less(option, was, now)
    if was == "n" or _goes_on(option, after):
        return None
    kind = next((one for one in _KINDS if one.names.fullmatch(option)), None)
    if kind is None or kind.risk is Risk.NONE:
        return None
    grounds = [kind.ground, *(ground for names, ground in kind.ground_of if names.fullmatch(option))]
    if any(ground and ground not in after for ground in grounds):
        return Loss(option, Risk.FUNCTION, kind.what)
    return Loss(option, kind.risk, kind.what)


def _less(option: str, was: str, now: str) -> Loss | None:
    """Return what is lost with a value that protects less than the one before; None for any other."""
    if option == "LSM" and set(was.split(",")) - set(now.split(",")):
        return Loss(option, Risk.SECURITY, "security modules")
    if _LESS_BY_NUMBER.fullmatch(option) and was.isdigit() and now.isdigit() and int(now) < int(was):
        return Loss(option, Risk.SECURITY, Protection.HARDENING.value)
    return None


def _goes_on(option: str, after: Mapping[str, str]) -> bool:
    # Another kernel version may have it by its new name.
    renamed = find_new_name(option, after)
    return renamed is not None and after[renamed.new] == renamed.renamed_value("y")
