"""Says why boots of a system may not be exact. Apart from speech: to know it takes every target, half a second."""

from bootlab.cli.terminal.speech import err
from bootlab.system import System
from bootlab.targets.registry import target_of


def warn_of_doubts(system: System) -> None:
    """Say on stderr why this system's boots may not be exact."""
    for doubt in target_of(system).doubts(system):
        err.print(f"bootlab: warning: {doubt}", soft_wrap=True)
