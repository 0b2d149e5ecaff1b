"""Build without mitigations of CPU vulnerabilities."""

from bootlab.techniques.build_options import VENTURA_2024, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_mitigations_off",
    options=off("CPU_MITIGATIONS"),
    arch=("x86_64",),
    summary="builds without retpolines, return thunks, page-table isolation and the other mitigations",
    mechanism=(
        "There are no thousands of indirect calls and returns to patch when the CPU is known, and no "
        "tables of them to load: in a published microVM kernel that patching is 23 of 61 million "
        "instructions. Each system call is shorter too."
    ),
    cost="other guests and unprivileged programs can read memory through speculative execution",
    risk=Risk.SECURITY,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}, used with mitigations=off; no isolated figure"),),
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
)
