"""Build without return thunks."""

from bootlab.techniques.build_options import LINUX_612, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_return_thunks_off",
    options=off("MITIGATION_RETHUNK"),
    gates=off("MITIGATION_CALL_DEPTH_TRACKING", "MITIGATION_UNRET_ENTRY", "MITIGATION_SRSO", "MITIGATION_ITS"),
    arch=("x86_64",),
    summary="builds with plain returns instead of jumps to a return thunk",
    mechanism=(
        "Each function's return is a jump that is patched at boot to what the CPU needs, in every CPU "
        "the same three or four bytes in tens of thousands of places; retpolines and the rest stay."
    ),
    cost="CPUs with Retbleed or speculative return stack overflow are not protected",
    risk=Risk.SECURITY,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, arch/x86/Kconfig"),),
    removes=Removes("patching of returns", functions=("apply_returns",)),
)
