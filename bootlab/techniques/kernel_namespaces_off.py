"""Build without namespaces."""

from bootlab.techniques.build_options import LINUX_612, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_namespaces_off",
    options=off("NAMESPACES"),
    gates={"EXPERT": "y"},
    summary="builds without separate name spaces for processes, networks and users",
    mechanism=("Caches and initial namespaces are set up, and each subsystem registers what it does for a new one."),
    cost="containers do not work without them",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, init/Kconfig"),),
    removes=Removes("namespaces", functions=("user_namespaces_init", "pid_namespaces_init", "utsname_sysctl_init")),
)
