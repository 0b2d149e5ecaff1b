"""The catalogue by name, and what its techniques make of a system, for tests that ask them.

BOOTLAB_TEST_EXTENSIONS names folders of extensions, `:` between them: their techniques go through the contract, too.
"""

import os
from pathlib import Path

from bootlab.system import System
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.technique import Layer, Technique

EXTENSIONS = tuple(Path(one) for one in os.environ.get("BOOTLAB_TEST_EXTENSIONS", "").split(":") if one)
ALL = {technique.name: technique for technique in load_catalogue(EXTENSIONS)}
KERNEL = {name: technique for name, technique in ALL.items() if technique.change.layer is Layer.KERNEL}
NOTHING = Measured({}, {}, {}, "")
"""What is known of a system that was not booted."""


def asked(technique: Technique, system: System, measured: Measured = NOTHING) -> dict[str, str]:
    """Return the options of the kernel that a technique asks for."""
    build = technique.change.apply(system, measured).kernel.build
    assert build is not None
    return build.options


def applied(name: str, system: System, measured: Measured = NOTHING) -> System:
    """Return the system with a technique that applies to it once, and not again: that would be a boot for nothing."""
    assert ALL[name].change.applies(system, measured) is None
    changed = ALL[name].change.apply(system, measured)
    assert ALL[name].change.applies(changed, measured) is not None
    return changed


def why_not(name: str, system: System, measured: Measured = NOTHING) -> str:
    """Return why a technique does not apply; empty where it does."""
    return ALL[name].change.applies(system, measured) or ""
