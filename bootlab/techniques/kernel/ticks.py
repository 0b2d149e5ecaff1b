"""How often the timer ticks, whether it stops, and how precise timers are."""

from dataclasses import replace

from bootlab.system import System
from bootlab.techniques.changes.kernel_options import WantedOptions, choice, off, rebuilt_kernel
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import never_runs
from bootlab.techniques.model.published import LINUX_612, VENTURA_2024, none_published
from bootlab.techniques.model.technique import Risk, Technique, Text

_FREQUENCIES = ("HZ_100", "HZ_250", "HZ_300", "HZ_1000")


def _ticks(hz: int, *, mechanism: str, cost: str) -> Technique:
    text = Text(
        summary=f"builds with {hz} timer ticks a second",
        mechanism=mechanism,
        cost=cost,
        risk=Risk.NONE,
        published=(
            none_published(
                "microVM kernels of arcboxlabs (kernel issue 18) use HZ=100; 6.12 rounds msleep() to ticks "
                "(kernel/time/timer.c)"
            ),
        ),
    )
    built = rebuilt_kernel(f"kernel_hz_{hz}", text, WantedOptions(choice(f"HZ_{hz}", _FREQUENCIES)))

    def apply(system: System, measured: Measured) -> System:
        changed = built.change.apply(system, measured)
        if changed.clock.tick_us is None:
            return changed
        # What is moved are this kernel's own ticks.
        return changed.with_part("clock", tick_us=1_000_000 // hz)

    return replace(built, change=replace(built.change, apply=apply))


TECHNIQUES = (
    _ticks(
        100,
        mechanism=(
            "Fewer interrupts on the way; but every wait that is counted in ticks is rounded up to 10 ms, "
            "and calibrations that wait for ticks take longer."
        ),
        cost="sleeps without high-resolution timers are rounded to 10 ms",
    ),
    _ticks(
        1000,
        mechanism=(
            "msleep() and timeouts are counted in ticks and rounded up: with ticks of 1 ms instead of 4 or "
            "10, and the checks that wait for five ticks, the boot waits less."
        ),
        cost="more interrupts a second while CPUs are busy",
    ),
    rebuilt_kernel(
        "kernel_hz_periodic",
        Text(
            summary="builds with a tick that never stops",
            mechanism=(
                "Going idle and waking up need not stop and restart the tick, which is done at every short "
                "wait of a boot."
            ),
            cost="an idle guest wakes up HZ times a second, which costs host CPU and power",
            risk=Risk.FUNCTION,
            published=(none_published(f"{VENTURA_2024}, kernel with HZ_PERIODIC; no isolated figure"),),
        ),
        WantedOptions(choice("HZ_PERIODIC", ("HZ_PERIODIC", "NO_HZ_IDLE", "NO_HZ_FULL")), gates=off("NO_HZ")),
        shows=never_runs("tick_nohz_idle_enter"),
    ),
    rebuilt_kernel(
        "kernel_high_res_timers",
        Text(
            summary="builds with timers that are more precise than a tick",
            mechanism=(
                "A usleep_range() or nanosleep() of some microseconds then ends in time, instead of at the "
                "next tick; drivers that poll in such sleeps probe sooner."
            ),
            cost="the timer hardware is programmed anew for each event",
            risk=Risk.NONE,
            published=(none_published(f"{LINUX_612}, kernel/time/Kconfig"),),
        ),
        WantedOptions({"HIGH_RES_TIMERS": "y"}),
    ),
    rebuilt_kernel(
        "kernel_high_res_timers_off",
        Text(
            summary="builds with timers that are only as precise as a tick",
            mechanism=(
                "The switch to one-shot mode at boot and the programming of the timer hardware for each "
                "event go away; short sleeps last until the next tick instead, so a boot with many of them "
                "gets longer."
            ),
            cost="sleeps are rounded up to a tick; a 6.1 kernel cannot run guests (KVM) without them",
            risk=Risk.FUNCTION,
            published=(none_published(f"{LINUX_612}, kernel/time/Kconfig"),),
        ),
        WantedOptions(off("HIGH_RES_TIMERS")),
    ),
)
