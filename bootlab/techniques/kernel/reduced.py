"""A kernel built from nothing, with what this system's job needs alone."""

from bootlab.system import System
from bootlab.techniques.changes.kernel_options import NOT_BUILT
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.published import none_published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text

_BASE = "allnoconfig"
_MOST_LEFT = 0.8
"""Of the options that were on, what a kernel that was reduced may have."""


def _can_be_reduced(system: System, measured: Measured) -> str | None:
    build = system.kernel.build
    if build is None:
        return NOT_BUILT
    if not build.reduced:
        return "the system file does not say what its job needs of a kernel (kernel.build.reduced)"
    return "the kernel is built from kernel.build.reduced already" if _reduced(system, measured) == system else None


def _reduced(system: System, measured: Measured) -> System:
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


def _has_fewer_options(after: Evidence, before: Evidence) -> Effect:
    new, old = (len([value for value in side.kernel_config.values() if value != "n"]) for side in (after, before))
    if not new or not old:
        return Effect.NOT_SHOWN
    return Effect.PROVEN if new <= _MOST_LEFT * old else Effect.NONE


TECHNIQUES = (
    Technique(
        name="kernel_reduced",
        text=Text(
            summary="builds the kernel from nothing, with what this system's job needs alone",
            mechanism=(
                "Leaving out one option at a time ends at what somebody thought of. From the other side, a "
                "kernel with nothing on is given what the board, its devices and the application ask for: "
                "the rest is neither loaded, nor unpacked, nor initialised. `bootlab tailor` finds such a "
                "configuration by itself on x86-64."
            ),
            cost=(
                "whatever the fragments forget does not work: other devices, file systems, programs; protections "
                "are off unless they ask for them; they are kept by hand"
            ),
            risk=Risk.SECURITY,
            published=(
                none_published('DV: David Ventura, "Minimizing Linux boot times", 2024, began so, with tinyconfig'),
            ),
        ),
        change=Change(
            Layer.KERNEL,
            f"kernel.build.base = {_BASE}, fragments = those of reduced, options = those that card.device_tree needs",
            _reduced,
            _can_be_reduced,
        ),
        proof=Proof(_has_fewer_options),
    ),
)
