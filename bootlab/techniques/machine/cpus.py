"""How many virtual CPUs the machine has."""

from bootlab.system import System
from bootlab.techniques.changes.machine import fixed_by_board, with_machine
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import fact_falls, fact_rises
from bootlab.techniques.model.published import VENTURA_2024, Published
from bootlab.techniques.model.subjects import FURTHER_CPUS, ONE_STREAM
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text


def _has_several(system: System, measured: Measured) -> str | None:
    return fixed_by_board(system) or (None if system.machine.vcpus > 1 else "the machine has one vCPU already")


def _has_one(system: System, measured: Measured) -> str | None:
    if (reason := fixed_by_board(system)) is not None:
        return reason
    if system.machine.tells_one_vcpu:
        return "a microvm without ACPI tells its guest of one CPU only"
    return None if system.machine.vcpus == 1 else f"the machine has {system.machine.vcpus} vCPUs already"


TECHNIQUES = (
    Technique(
        name="machine_one_vcpu",
        text=Text(
            summary="gives the guest one virtual CPU",
            mechanism=(
                "Further CPUs are started one after the other: woken, waited for, synchronised, each with "
                "its own per-CPU memory, idle task, timers and worker threads (6.12 can wake those of "
                "x86-64 together). With one CPU an x86-64 kernel also patches the bus locks out of its code. "
                f"{ONE_STREAM}"
            ),
            cost="no parallel work in the guest until a CPU is added, if hotplug is possible at all",
            risk=Risk.FUNCTION,
            published=(Published("2.5 ms per vCPU; by its data about 3.6 (results.json, 6.7.3)", VENTURA_2024),),
        ),
        change=Change(Layer.MACHINE, "machine.vcpus = 1", with_machine(vcpus=1), _has_several),
        proof=fact_falls("cpus_online"),
        removes=FURTHER_CPUS,
    ),
    Technique(
        name="machine_two_vcpus",
        text=Text(
            summary="gives the guest a second virtual CPU, to unpack and self-test beside the initcalls",
            mechanism=(
                "The initramfs is unpacked, ciphers are self-tested and trace events translated in worker "
                "threads; a second CPU can run them while the first goes on with the initcalls. On the "
                "virtual clock all CPUs share one stream of instructions: what is saved by working in "
                "parallel does not show there, what it costs does."
            ),
            cost="a second host CPU while the guest boots; bringing it up takes time of its own",
            risk=Risk.NONE,
            published=(
                Published(
                    "2.5 ms lost per vCPU, by its data about 3.6 (results.json, 6.7.3); no figure for what is gained",
                    VENTURA_2024,
                ),
            ),
        ),
        change=Change(Layer.MACHINE, "machine.vcpus = 2", with_machine(vcpus=2), _has_one),
        proof=fact_rises("cpus_online"),
    ),
)
