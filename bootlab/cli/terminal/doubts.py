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
    why = "please report it with the run's directory"
    if network is not None and network.peer is NetworkPeer.HOST:
        why = (
            "a guest that uses its card before ready waits for QEMU's own network, which answers when the host lets "
            f'it: network.peer = "bootlab" does it exactly (docs/measuring.md). If it does not, {why}'
        )
    err.print(f"bootlab: these boots have one seed and are not identical: {why}", soft_wrap=True)
