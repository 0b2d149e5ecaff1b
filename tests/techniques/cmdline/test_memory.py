"""How memory is laid out: tables that are large enough to be made small, and nodes on every architecture."""

from dataclasses import replace

from bootlab.system import MachineType, System
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Effect, Evidence, Measured

ALL = {technique.name: technique for technique in load_catalogue()}


def log(*lines: str) -> dict[str, str]:
    return {f"dmesg.{number}": f"[    0.000000] {line}" for number, line in enumerate(("Linux version 6.12", *lines))}


def test_small_tables_are_left_as_they_are(system: System) -> None:
    applies = ALL["cmdline_hash_entries"].change.applies
    small, large = (
        Measured(log(f"Dentry cache hash table entries: {count} (order: 3)"), {}, {}, "") for count in (4096, 32768)
    )
    assert applies(system, small) == "memory is small, and so are the tables: 4096 dentries"
    assert applies(system, large) is None
    assert applies(system, Measured({}, {}, {}, "")) is None


def test_nodes_are_not_looked_for_on_any_architecture_that_has_them(system: System, camera: System) -> None:
    technique = ALL["cmdline_numa_off"]
    nothing = Measured({}, {}, {}, "")
    arm = system.with_part("machine", type=MachineType.VIRT)
    assert technique.change.applies(system, nothing) is technique.change.applies(arm, nothing) is None
    assert technique.change.applies(camera, nothing) == "Linux knows no NUMA nodes on armv7"
    without = replace(nothing, kernel_config={"SMP": "y"})
    assert technique.change.applies(system, without) == "NUMA is off in this kernel"
    for said in ("NUMA turned off", "NUMA: NUMA disabled"):
        one, other = (Evidence(log(*lines), {}, {}, "", None) for lines in ((said,), ()))
        assert technique.proof.prove(one, other) is Effect.PROVEN


def test_a_board_keeps_twice_what_its_job_uses(system: System, camera: System) -> None:
    applies, apply = (getattr(ALL["cmdline_mem"].change, what) for what in ("applies", "apply"))
    fast = camera.with_part("initramfs", embedded=True)

    def told(total_mib: int, free_mib: int) -> Measured:
        return Measured({"mem_total_kib": str(total_mib << 10), "mem_free_kib": str(free_mib << 10)}, {}, {}, "")

    for free_mib, limit in ((742, "64M"), (741, "64M"), (740, "128M"), (640, "512M")):
        assert applies(fast, told(757, free_mib)) is None
        assert apply(fast, told(757, free_mib)).kernel.cmdline.endswith(f" mem={limit}")
    assert applies(fast, told(757, 500)) == "the boot uses more than a quarter of its 757 MiB"
    # The pool of CMA counts as free, and must fit beside what is used.
    line = "Memory: 735036K/1048576K available (8192K kernel code, 2048K init, 48628K reserved, {}K cma-reserved)"
    for cma_kib, free_mib, limit in ((0, 742, "64M"), (2_048, 742, "64M"), (4_096, 742, "128M"), (65_536, 742, "128M")):
        said = replace(told(757, free_mib), facts={**told(757, free_mib).facts, **log(line.format(cma_kib))})
        assert apply(fast, said).kernel.cmdline.endswith(f" mem={limit}"), cma_kib
    assert "crashkernel" in str(applies(fast.with_cmdline("crashkernel=64M"), told(757, 740)))
    # U-Boot moves an initramfs to the end of the memory that it takes for itself.
    assert camera.initramfs is not None and not camera.initramfs.embedded
    assert apply(camera, told(757, 740)).kernel.cmdline.endswith(" mem=256M")
    nothing = Measured({}, {}, {}, "")
    assert "facts mem_total_kib" in str(applies(fast, nothing))
    assert applies(fast.with_cmdline("mem=96M"), told(757, 740)) == "the command line has mem=96M"
    assert applies(fast.with_cmdline("mem=64M"), told(757, 742)) == "the command line has mem=64M already"
    assert "machine_memory_half" in str(applies(system, told(757, 740)))
    real = System.model_validate(
        {
            "name": "real",
            "machine": {"type": "armv7-board"},
            "target": {"kind": "serial", "port": "/dev/ttyUSB0", "power_on": "true", "power_off": "true"},
            "booted": {"console": "login:"},
        }
    )
    assert "nobody knows where" in str(applies(real, told(757, 740)))
