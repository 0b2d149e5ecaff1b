"""Skip the check that timer interrupts arrive."""

from bootlab.techniques.cmdline import kernel_words, x86_only
from bootlab.techniques.evidence import pause_shrinks
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = kernel_words(
    name="cmdline_no_timer_check",
    words="no_timer_check",
    summary="skips the check that the timer interrupt arrives through the I/O APIC",
    mechanism=(
        "timer_irq_works() spins until more than four jiffies have gone by with interrupts on: 16 to 20 ms at "
        "HZ=250. KVM guests with CONFIG_KVM_GUEST skip it on their own; under TCG, on bare metal and without "
        "KVM_GUEST it runs."
    ),
    cost=("a machine whose timer interrupt is wired wrongly is no longer worked around; emulated ones are wired right"),
    risk=Risk.NONE,
    sources=(
        Source(
            "up to 4-5 jiffies (16-50 ms); automatic under KVM_GUEST",
            "K612: Linux 6.12.117 source, arch/x86/kernel/apic/io_apic.c and kvm.c",
        ),
    ),
    prove=pause_shrinks(r"\.\.TIMER: vector="),
    applies=x86_only,
    removes=Removes("the check that timer interrupts arrive", functions=("timer_irq_works",)),
)
