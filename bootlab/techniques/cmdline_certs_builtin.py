"""Do not load the kernel's built-in certificates."""

from bootlab.techniques.cmdline import NONE_PUBLISHED, kernel_words, ran
from bootlab.techniques.evidence import never_runs
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = kernel_words(
    name="cmdline_certs_builtin",
    words="initcall_blacklist=load_system_certificate_list",
    summary="does not load the certificates built into the kernel",
    mechanism=(
        "load_system_certificate_list() parses each X.509 certificate and verifies its RSA signature in plain "
        "C arithmetic. Without keys the signatures of modules cannot be verified either, so each module loads "
        "sooner, marked as unsigned."
    ),
    cost=(
        "module signatures are not checked and the kernel is tainted; where lockdown or sig_enforce is on no "
        "module loads"
    ),
    risk=Risk.SECURITY,
    sources=(
        Source(
            NONE_PUBLISHED,
            "K612: Linux 6.12.117 source, certs/system_keyring.c; found in the initcall table of a measured boot",
        ),
    ),
    prove=never_runs("load_system_certificate_list"),
    applies=ran("load_system_certificate_list"),
    watch=("load_system_certificate_list",),
    removes=Removes("parsing and verifying of built-in certificates", functions=("load_system_certificate_list",)),
)
