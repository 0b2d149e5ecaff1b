"""Do not clear variables on the stack."""

from bootlab.techniques.build_options import LINUX_612, choice, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import line_appears
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_stack_init_off",
    options=choice("INIT_STACK_NONE", ("INIT_STACK_NONE", "INIT_STACK_ALL_ZERO", "INIT_STACK_ALL_PATTERN")),
    gates=off("GCC_PLUGIN_STRUCTLEAK_USER", "GCC_PLUGIN_STRUCTLEAK_BYREF", "GCC_PLUGIN_STRUCTLEAK_BYREF_ALL"),
    summary="compiles without clearing every variable on the stack at the start of its function",
    mechanism=(
        "The compiler puts stores in front of each function that has variables it cannot prove to be "
        "written first; large ones are cleared by a loop."
    ),
    cost="forgotten initialisations leak or use old stack content",
    risk=Risk.SECURITY,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, security/Kconfig.hardening"),),
    shows=line_appears(r"mem auto-init: stack:off"),
)
