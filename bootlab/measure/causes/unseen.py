"""What a boot's screen was still looked at for as its deadline passed ([screen.marks])."""

from bootlab.profile.recorded.trace import SCREEN, PluginTrace
from bootlab.system import System


def find_unseen(system: System, trace: PluginTrace | None) -> str | None:
    """Return which marks of the screen were awaited in vain, and since when; None where none was.

    A mark that comes behind another one that was never reached was not looked for.
    """
    if system.screen is None or trace is None or SCREEN not in trace.exact:
        return None
    reached = {name: stamp.t_ns for name, stamp in (*trace.marks.items(), *trace.guest_marks.items())}
    awaited = []
    for name, mark in system.screen.marks.items():
        if name in reached or (mark.after is not None and mark.after not in reached):
            continue
        since = "power-on" if mark.after is None else f"{mark.after} at {reached[mark.after] / 1e6:.3f} ms"
        awaited.append(f"{name} since {since}")
    return f"its screen has not shown {', '.join(awaited)}" if awaited else None
