"""Turn the audit subsystem off."""

from bootlab.techniques.cmdline import NONE_PUBLISHED, kernel_words
from bootlab.techniques.evidence import line_appears
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = kernel_words(
    name="cmdline_audit_off",
    words="audit=0",
    summary="turns the audit subsystem off until reboot",
    mechanism=(
        "audit_init() sets up its netlink socket, hash tables and kauditd thread at boot, and system calls of "
        "audited tasks are recorded from then on."
    ),
    cost="no audit trail: logins, denials of SELinux and AppArmor are not recorded",
    risk=Risk.SECURITY,
    sources=(Source(NONE_PUBLISHED, "techniques catalogue of this project, no published figure found"),),
    prove=line_appears(r"audit: disabled"),
    removes=Removes(
        "the audit subsystem", functions=("audit_init", "audit_watch_init", "audit_fsnotify_init", "audit_tree_init")
    ),
)
