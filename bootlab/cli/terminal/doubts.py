"""Says why boots of a system may not be exact. Apart from speech: to know it takes every target, half a second."""

from bootlab.cli.terminal.speech import err
from bootlab.system import NetworkPeer, System
from bootlab.targets.registry import target_of


def warn_of_doubts(system: System) -> None:
    """Say on stderr why this system's boots may not be exact."""
    for doubt in target_of(system).doubts(system):
        err.print(f"bootlab: warning: {doubt}", soft_wrap=True)


def tell_not_identical(system: System) -> None:
    """Say on stderr that boots with one seed differ on the virtual clock, and why that may be."""
    network = system.network
    why = (
        'QEMU\'s own network answers when the host lets it; with network.peer = "bootlab" (docs/measuring.md) they '
        "should be"
        if network is not None and network.peer is NetworkPeer.HOST
        else "please report it with the run's directory"
    )
    err.print(f"bootlab: these boots have one seed and are not identical: {why}", soft_wrap=True)
