"""What techniques of the application have in common: the same program, configured, compiled or linked another way.

They change every program that the system's initramfs or root builds from source. What has run tells the proof: the
program's own file and its own words, as facts `application.*` (examples/camera-board/camera.c shows how).
"""

from collections.abc import Callable

from bootlab.system import SourceProgram, System
from bootlab.techniques.evidence import Prove
from bootlab.techniques.technique import Layer, Measured, Risk, Source, Technique

_PARTS = ("initramfs", "rootfs")


def programs_of(system: System) -> list[SourceProgram]:
    """Return the programs that the system builds from source packages."""
    contents = (system.initramfs, system.rootfs)
    return [program for content in contents if content is not None for program in content.programs.values()]


def program_technique(
    *,
    name: str,
    changes: dict[str, object],
    refuses: Callable[[SourceProgram], str | None] = lambda program: None,
    arch: tuple[str, ...] = (),
    summary: str,
    mechanism: str,
    knob: str,
    cost: str,
    risk: Risk,
    sources: tuple[Source, ...],
    prove: Prove,
) -> Technique:
    """Return the technique that builds the system's programs with `changes` of their keys.

    `refuses` says why one program is not for it; `arch`: the only architectures it is for.
    """

    def applies(system: System, measured: Measured) -> str | None:
        programs = programs_of(system)
        if not programs:
            return "the system builds no program from source (initramfs.programs)"
        if arch and system.machine.arch not in arch:
            return f"for {', '.join(arch)}, and this machine is {system.machine.arch}"
        reasons = [_why_not(program) for program in programs]
        return reasons[0] if all(reasons) else None

    def _why_not(program: SourceProgram) -> str | None:
        if all(getattr(program, key) == value for key, value in changes.items()):
            return f"{program.package} is built so already"
        return refuses(program)

    def apply(system: System, measured: Measured) -> System:
        for part in _PARTS:
            content = getattr(system, part)
            if content is None or not content.programs:
                continue
            programs = {
                path: program if _why_not(program) else program.model_copy(update=changes)
                for path, program in content.programs.items()
            }
            system = system.with_part(part, programs=programs)
        return system

    return Technique(
        name=name,
        layer=Layer.APPLICATION,
        summary=summary,
        mechanism=mechanism,
        knob=knob,
        cost=cost,
        risk=risk,
        sources=sources,
        apply=apply,
        prove=prove,
        applies=applies,
    )
