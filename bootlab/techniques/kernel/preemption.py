"""Where the kernel itself can be preempted."""

from bootlab.techniques.changes.kernel_options import WantedOptions, choice, rebuilt_kernel
from bootlab.techniques.model.proofs import fact_is
from bootlab.techniques.model.published import LINUX_612, VENTURA_2024, none_published
from bootlab.techniques.model.technique import Risk, Text

_MODELS = ("PREEMPT_NONE", "PREEMPT_VOLUNTARY", "PREEMPT", "PREEMPT_RT")


def _model(chosen: str) -> dict[str, str]:
    return {**choice(chosen, _MODELS), "PREEMPT_DYNAMIC": "n"}


TECHNIQUES = (
    rebuilt_kernel(
        "kernel_preempt",
        Text(
            summary="builds a kernel that can be preempted almost anywhere",
            mechanism=(
                "A thread that becomes ready during boot, such as a driver probing asynchronously, runs at "
                "once and not when an initcall happens to sleep; the price is preemption counting "
                "everywhere."
            ),
            cost="more instructions on every lock; throughput falls a little; preempt= no longer chooses at boot",
            risk=Risk.FUNCTION,
            published=(none_published(f"{LINUX_612}, kernel/Kconfig.preempt"),),
        ),
        WantedOptions(_model("PREEMPT")),
        shows=fact_is("kernel", r" PREEMPT "),
    ),
    rebuilt_kernel(
        "kernel_preempt_none",
        Text(
            summary="builds a kernel that is never preempted, with the RCU flavour that goes with it",
            mechanism=(
                "No preemption counts, no calls to might_resched() to patch at boot, and tree or tiny RCU "
                "that needs no note of preempted readers."
            ),
            cost="a long system call delays all others: worse latency under load; preempt= no longer chooses at boot",
            risk=Risk.FUNCTION,
            published=(none_published(f"{VENTURA_2024}, kernel with PREEMPT_NONE; no isolated figure"),),
        ),
        WantedOptions(_model("PREEMPT_NONE")),
        shows=fact_is("kernel", r"^(?!.* PREEMPT(_DYNAMIC|_RT)? )"),
    ),
)
