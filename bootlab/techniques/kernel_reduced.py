"""Build the kernel from nothing, with what this system's job needs alone."""

from bootlab.system import System
from bootlab.techniques.build_options import NOT_BUILT
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Evidence, Layer, Measured, Proof, Risk, Source, Technique

_BASE = "allnoconfig"
_MOST_LEFT = 0.8
"""Of the options that were on, what a kernel that was reduced may have."""


def _applies(system: System, measured: Measured) -> str | None:
    build = system.kernel.build
    if build is None:
        return NOT_BUILT
    if not build.reduced:
        return "the system file does not say what its job needs of a kernel (kernel.build.reduced)"
    return "the kernel is built from kernel.build.reduced already" if _apply(system, measured) == system else None


def _apply(system: System, measured: Measured) -> System:
    build = system.kernel.build
    assert build is not None
    # What earlier steps left out is not there, and what they chose was chosen for another kernel; only what the card
    # was composed for stays.
    return system.with_part(
        "kernel",
        build={
            **dict(build),
            "base": _BASE,
            "config": None,
            "config_package": None,
            "suite": build.suite if build.package is not None else None,
            "fragments": build.reduced,
            "options": dict.fromkeys(system.appended_tree_options, "y"),
        },
    )


def _prove(after: Evidence, before: Evidence) -> Proof:
    new, old = (len([value for value in side.kernel_config.values() if value != "n"]) for side in (after, before))
    if not new or not old:
        return Proof.NOT_SHOWN
    return Proof.PROVEN if new <= _MOST_LEFT * old else Proof.NO_EFFECT


TECHNIQUE = Technique(
    name="kernel_reduced",
    layer=Layer.KERNEL,
    summary="builds the kernel from nothing, with what this system's job needs alone",
    mechanism=(
        "Leaving out one option at a time ends at what somebody thought of. From the other side, a kernel with nothing "
        "on is given what the board, its devices and the application ask for: the rest is neither loaded, nor "
        "unpacked, nor initialised. `bootlab tailor` finds such a configuration by itself on x86-64."
    ),
    knob=f"kernel.build.base = {_BASE}, fragments = those of reduced, options = those that card.device_tree needs",
    cost="whatever the fragments forget does not work: other devices, file systems, programs; they are kept by hand",
    risk=Risk.FUNCTION,
    sources=(
        Source(NONE_PUBLISHED, 'DV: David Ventura, "Minimizing Linux boot times", 2024, began so, with tinyconfig'),
    ),
    apply=_apply,
    prove=_prove,
    applies=_applies,
)
