"""Build without security modules."""

from bootlab.techniques.build_options import VENTURA_2024, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import fact_is
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_security_off",
    options=off("SECURITY"),
    gates=off("SECURITYFS"),
    summary="builds without security modules: SELinux, AppArmor, Landlock, lockdown, integrity",
    mechanism=(
        "Modules are ordered and initialised early, keep data at each inode, file and task, and load and "
        "hash policies and keys."
    ),
    cost="no mandatory access control",
    risk=Risk.SECURITY,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}, kernel without it; no isolated figure"),),
    shows=fact_is("lsm", "^$"),
    removes=Removes(
        "security modules",
        functions=(
            "early_security_init",
            "security_init",
            "init_sel_fs",
            "apparmor_init",
            "aa_create_aafs",
            "init_ima",
        ),
    ),
)
