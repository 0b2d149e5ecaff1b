"""Do not clear memory that is allocated or freed."""

from bootlab.techniques.build_options import LINUX_612, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import line_appears
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_init_on_alloc_off",
    options=off("INIT_ON_ALLOC_DEFAULT_ON", "INIT_ON_FREE_DEFAULT_ON"),
    summary="builds so that memory is not cleared when it is allocated or freed",
    mechanism=(
        "Every page and slab object is written before it is handed out, whether or not its user writes it all anyway."
    ),
    cost="old content of kernel memory can leak through a forgotten initialisation",
    risk=Risk.SECURITY,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, security/Kconfig.hardening"),),
    shows=line_appears(r"heap alloc:off, heap free:off"),
    removes=Removes("clearing of allocated memory", functions=("kernel_init_pages",)),
)
