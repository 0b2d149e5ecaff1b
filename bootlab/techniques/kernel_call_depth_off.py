"""Build without call depth tracking."""

from bootlab.techniques.build_options import LINUX_612, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_call_depth_off",
    options=off("MITIGATION_CALL_DEPTH_TRACKING"),
    arch=("x86_64",),
    summary="builds without the room before each function that counts calls on some Intel CPUs",
    mechanism=(
        "Every function is preceded by 16 bytes of padding and every call is listed for patching: a "
        "larger image with more tables to read."
    ),
    cost="Skylake CPUs fall back to a slower mitigation of Retbleed",
    risk=Risk.NONE,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, arch/x86/Kconfig"),),
    removes=Removes("call thunks", functions=("callthunks_patch_builtin_calls",)),
)
