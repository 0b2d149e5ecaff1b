"""The devices of a machine and the modules for them, for a terminal: how many there are, and the largest modules."""

from collections.abc import Sequence

from bootlab.findings.coldplug_result import ColdplugResult, Module
from bootlab.report.parts.figures import count, visible

_SHOWN = 12


def coldplug(result: ColdplugResult) -> list[str]:
    """Return a result in lines."""
    driven = sum(device.driver is not None for device in result.devices)
    return [
        f"{len(result.devices)} devices that a module could be for, {driven} of them with a driver; {result.kernel}",
        *_listed("modules for them", result.wanted),
        f"at work: {visible(' '.join(result.at_work)) or 'none: what drives them is built in'}",
        *_listed(f"of {result.image} in the image, for no device here", result.idle),
        f"list: {result.written}",
    ]


def _listed(words: str, modules: Sequence[Module]) -> list[str]:
    if not modules:
        return [f"{words}: none"]
    largest = sorted(modules, key=lambda module: -(module.bytes or 0))
    lines = [f"{words}: {len(modules)}, {count(sum(module.bytes or 0 for module in modules))} bytes"]
    lines += [f"  {count(module.bytes or 0):>12}  {visible(module.name)}" for module in largest[:_SHOWN]]
    if len(largest) > _SHOWN:
        lines.append(f"  {'':>12}  and {len(largest) - _SHOWN} more")
    return lines
