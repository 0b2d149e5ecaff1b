"""Build without auditing."""

from bootlab.techniques.build_options import LINUX_612, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_audit_off",
    options=off("AUDIT"),
    gates=off("SECURITY_SELINUX", "SECURITY_APPARMOR", "IMA", "INTEGRITY_AUDIT"),
    summary="builds without the audit subsystem",
    mechanism="No socket, thread and lists for rules, and no test in the path of each system call.",
    cost="no audit records; SELinux needs it",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, init/Kconfig"),),
    shows=initcalls_gone("audit_init"),
    removes=Removes(
        "auditing",
        functions=("audit_init", "audit_classes_init", "audit_watch_init", "audit_fsnotify_init", "audit_tree_init"),
    ),
)
