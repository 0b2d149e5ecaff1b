"""Start no security module."""

from bootlab.techniques.cmdline import NONE_PUBLISHED, kernel_words
from bootlab.techniques.technique import Evidence, Proof, Removes, Risk, Source


def _fewer_modules(after: Evidence, before: Evidence) -> Proof:
    # Capabilities cannot be left out, and some kernels add integrity modules of their own accord.
    if "lsm" not in after.facts or "lsm" not in before.facts:
        return Proof.NOT_SHOWN
    new, old = (set(side.facts["lsm"].split(",")) for side in (after, before))
    return Proof.PROVEN if new < old else Proof.NO_EFFECT


TECHNIQUE = kernel_words(
    name="cmdline_lsm_none",
    words="lsm=",
    summary="starts no security module beyond capabilities",
    mechanism=(
        "Each security module initialises its policy structures, allocates blobs for every credential, inode "
        "and task, and registers hooks that every later system call goes through."
    ),
    cost="no AppArmor, SELinux, Landlock, Yama or lockdown: all mandatory access control is gone",
    risk=Risk.SECURITY,
    sources=(
        Source(NONE_PUBLISHED, "KATA: kata-containers 01e56a7, qemu_amd64.go uses selinux=0; no isolated figure read"),
    ),
    prove=_fewer_modules,
    removes=Removes(
        "security modules",
        functions=(
            "apparmor_init",
            "aa_create_aafs",
            "apparmor_nf_ip_init",
            "selinux_init",
            "tomoyo_init",
            "yama_init",
            "landlock_init",
            "integrity_iintcache_init",
            "lockdown_lsm_init",
        ),
    ),
)
