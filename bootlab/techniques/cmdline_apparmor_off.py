"""Start without AppArmor."""

from bootlab.techniques.cmdline import NONE_PUBLISHED, kernel_words
from bootlab.techniques.technique import Evidence, Proof, Removes, Risk, Source


def _not_among_modules(after: Evidence, before: Evidence) -> Proof:
    if "lsm" not in after.facts:
        return Proof.NOT_SHOWN
    new, old = (set(side.facts.get("lsm", "").split(",")) for side in (after, before))
    if "apparmor" in new:
        return Proof.NO_EFFECT
    return Proof.PROVEN if "apparmor" in old else Proof.NOT_SHOWN


TECHNIQUE = kernel_words(
    name="cmdline_apparmor_off",
    words="apparmor=0",
    summary="starts the kernel without AppArmor",
    mechanism=(
        "AppArmor is Debian's default security module: it creates its root namespace and unconfined profiles, "
        "sets up hashing of policies, and labels every task and file from then on."
    ),
    cost="profiles that confine services are not enforced",
    risk=Risk.SECURITY,
    sources=(Source(NONE_PUBLISHED, "techniques catalogue of this project, no published figure found"),),
    prove=_not_among_modules,
    removes=Removes("AppArmor", functions=("apparmor_init", "aa_create_aafs", "apparmor_nf_ip_init")),
)
