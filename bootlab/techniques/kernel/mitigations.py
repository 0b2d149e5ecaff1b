"""Mitigations of CPUs' vulnerabilities: calls and returns that are patched when the CPU is known."""

from bootlab.techniques.changes.kernel_options import WantedOptions, off, rebuilt_kernel
from bootlab.techniques.model.proofs import if_shown, more_is_vulnerable, never_runs
from bootlab.techniques.model.published import LINUX_612, VENTURA_2024, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Risk, Text

TECHNIQUES = (
    rebuilt_kernel(
        "kernel_mitigations_off",
        Text(
            summary="builds without retpolines, return thunks, page-table isolation and the other mitigations",
            mechanism=(
                "There are no thousands of indirect calls and returns to patch when the CPU is known, and "
                "no tables of them to load: a microVM kernel of 61 million instructions spends 23 million on "
                "that. Each system call is shorter too. Kernels without the updates of 2024 call it "
                "SPECULATION_MITIGATIONS, and keep with it what has no option of its own."
            ),
            cost="other guests and unprivileged programs can read memory through speculative execution",
            risk=Risk.SECURITY,
            published=(none_published(f"{VENTURA_2024}, used with mitigations=off; no isolated figure"),),
        ),
        WantedOptions(off("CPU_MITIGATIONS"), arch=("x86_64",)),
        shows=if_shown(more_is_vulnerable()),
        removes=Removes(
            "patching of calls and returns for mitigations",
            functions=(
                "apply_retpolines",
                "apply_returns",
                "apply_fineibt",
                "callthunks_patch_builtin_calls",
                "cpu_select_mitigations",
            ),
        ),
    ),
    rebuilt_kernel(
        "kernel_call_depth_off",
        Text(
            summary="builds without the room before each function that counts calls on some Intel CPUs",
            mechanism=(
                "Every function is preceded by 16 bytes of padding and every call is listed for patching: "
                "a larger image with more tables to read. In kernels since 6.2; it does nothing unless the "
                "command line has retbleed=stuff."
            ),
            cost="retbleed=stuff is refused, and Skylake CPUs have the slower default, IBRS, all the same",
            risk=Risk.NONE,
            published=(none_published(f"{LINUX_612}, arch/x86/Kconfig"),),
        ),
        WantedOptions(off("MITIGATION_CALL_DEPTH_TRACKING"), arch=("x86_64",)),
        shows=never_runs("callthunks_patch_builtin_calls"),
        removes=Removes("call thunks", functions=("callthunks_patch_builtin_calls",)),
    ),
    rebuilt_kernel(
        "kernel_return_thunks_off",
        Text(
            summary="builds with plain returns instead of jumps to a return thunk",
            mechanism=(
                "Each function's return is a jump that is patched at boot to what the CPU needs, in every "
                "CPU the same three or four bytes in tens of thousands of places; retpolines and the rest "
                "stay."
            ),
            cost=(
                "CPUs with Retbleed, speculative return stack overflow or indirect target selection (ITS) are not "
                "protected, nor is call depth tracked"
            ),
            risk=Risk.SECURITY,
            published=(none_published(f"{LINUX_612}, arch/x86/Kconfig"),),
        ),
        WantedOptions(
            off("MITIGATION_RETHUNK"),
            gates=off("MITIGATION_CALL_DEPTH_TRACKING", "MITIGATION_UNRET_ENTRY", "MITIGATION_SRSO", "MITIGATION_ITS"),
            arch=("x86_64",),
        ),
        shows=if_shown(more_is_vulnerable()),
        removes=Removes("patching of returns", functions=("apply_returns",)),
    ),
    rebuilt_kernel(
        "kernel_ibt_off",
        Text(
            summary="builds without the marks at the targets of indirect calls",
            mechanism=(
                "Marks at functions that are never called indirectly are patched out at boot, one by one, "
                "and so are the prefixes for FineIBT (6.2, with clang)."
            ),
            cost="control flow inside the kernel is not checked on CPUs that could",
            risk=Risk.SECURITY,
            published=(none_published(f"{LINUX_612}, arch/x86/Kconfig"),),
        ),
        WantedOptions(off("X86_KERNEL_IBT"), gates=off("FINEIBT"), arch=("x86_64",)),
        removes=Removes(
            "patching out of marks for indirect branches",
            functions=("apply_seal_endbr", "apply_ibt_endbr", "apply_fineibt"),
        ),
    ),
)
