"""The system's own program, configured, compiled or linked another way.

They change every program that the system's initramfs or root builds from source. What has run tells the proof: the
program's own file and its own words, as facts `application.*` (examples/camera-board/camera.c shows how).
"""

from collections.abc import Callable, Mapping

from bootlab.system import Instructions, Libc, SourceProgram, System
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import fact_falls, fact_is
from bootlab.techniques.model.published import BOOTLIN_2019, Published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text

_PARTS = ("initramfs", "rootfs")


def _programs_of(system: System) -> list[SourceProgram]:
    contents = (system.initramfs, system.rootfs)
    return [program for content in contents if content is not None for program in content.programs.values()]


def built_programs(
    knob: str,
    changes: Mapping[str, object],
    *,
    refuses: Callable[[SourceProgram], str | None] = lambda program: None,
    arch: tuple[str, ...] = (),
) -> Change:
    """Return the change that builds the system's programs with `changes` of their keys.

    `refuses` says why one program is not for it; `arch`: the only architectures it is for.
    """

    def applies(system: System, measured: Measured) -> str | None:
        programs = _programs_of(system)
        if not programs:
            return "the system builds no program from source (initramfs.programs)"
        if arch and system.machine.arch not in arch:
            return f"for {', '.join(arch)}, and this machine is {system.machine.arch}"
        reasons = [why_not(program) for program in programs]
        return reasons[0] if all(reasons) else None

    def why_not(program: SourceProgram) -> str | None:
        if all(getattr(program, key) == value for key, value in changes.items()):
            return f"{program.package} is built so already"
        return refuses(program)

    def apply(system: System, measured: Measured) -> System:
        for part in _PARTS:
            content = getattr(system, part)
            if content is None or not content.programs:
                continue
            programs = {
                path: program if why_not(program) else program.model_copy(update=changes)
                for path, program in content.programs.items()
            }
            system = system.with_part(part, programs=programs)
        return system

    return Change(Layer.APPLICATION, knob, apply, applies)


def _no_uclibc(program: SourceProgram) -> str | None:
    if program.uclibc_compiler is not None:
        return None
    return (
        f"{program.package}: `uclibc_compiler` names no cross compiler of uClibc's, and no Debian package has one: "
        "Buildroot makes it (output/host/bin/*-linux-uclibc*-gcc)"
    )


def _cannot_be_reduced(program: SourceProgram) -> str | None:
    return None if program.reduced else f"{program.package}: `reduced` names no words for its configure script"


TECHNIQUES = (
    Technique(
        name="application_reduced",
        text=Text(
            summary="configures the application without the features that this system does not use",
            mechanism=(
                "A general program carries every format, protocol and device that it knows. What is left "
                "out is neither read from storage, nor unpacked, nor relocated, nor registered when the "
                "program starts."
            ),
            cost="what was left out is not there: another camera or format needs another build",
            risk=Risk.FUNCTION,
            published=(
                Published(
                    "-350 ms of total boot time; system 16.11 -> 3.54 MB (-78 %); ffmpeg itself -150 ms", BOOTLIN_2019
                ),
            ),
        ),
        change=built_programs(
            'reduce = true, with the words for its configure script in `reduced`, in [initramfs.programs."/path"]',
            {"reduce": True},
            refuses=_cannot_be_reduced,
        ),
        proof=fact_falls("application.bytes", to_percent=80),
    ),
    Technique(
        name="application_static",
        text=Text(
            summary="links the application static, so that it needs no loader and no shared libraries",
            mechanism=(
                "The kernel starts the program itself: no dynamic loader looks for libraries, maps and "
                "relocates them and resolves their symbols; and of the libraries only what is used goes "
                "into the image."
            ),
            cost=(
                "a library's fix means building the program again, and several programs no longer share one copy; "
                "with glibc, names of hosts and users, encodings and plug-ins still want its shared libraries (NSS, "
                "gconv, dlopen), and fail without them"
            ),
            risk=Risk.FUNCTION,
            published=(Published("-20 ms; system 2.33 -> 1.58 MB (-22 %), with two programs", BOOTLIN_2019),),
        ),
        change=built_programs('static = true in [initramfs.programs."/path"]', {"static": True}),
        proof=fact_is("application.linked", "^static$"),
    ),
    Technique(
        name="application_musl",
        text=Text(
            summary="links the application with musl instead of glibc, static",
            mechanism=(
                "musl's start-up does less (no IRELATIVE relocations, no locale and no NSS machinery), and "
                "a static program takes little of it, so the image is smaller."
            ),
            cost="another C library: no glibc locales, NSS or gconv, and its own malloc, which is slower with threads",
            risk=Risk.FUNCTION,
            published=(Published("musl 680 KB, uClibc 570 KB, no other significant change", BOOTLIN_2019),),
        ),
        change=built_programs(
            'libc = "musl", static = true in [initramfs.programs."/path"]', {"libc": Libc.MUSL, "static": True}
        ),
        # By the note that glibc's start-up code leaves in a program (NT_GNU_ABI_TAG). musl leaves none of its own.
        proof=fact_is("application.libc", "^another$"),
    ),
    Technique(
        name="application_uclibc",
        text=Text(
            summary="links the application with uClibc-ng instead of glibc, static",
            mechanism=(
                "As musl's, its start-up does little, and its parts are chosen when it is built: what is "
                "linked into a static program is small, and the image with it."
            ),
            cost=(
                "another C library: no glibc locales, NSS or gconv, and only what it was built with; a toolchain of "
                "one's own to keep, for no distribution has one"
            ),
            risk=Risk.FUNCTION,
            published=(Published("uClibc 570 KB, musl 680 KB (-16 %), no other significant change", BOOTLIN_2019),),
        ),
        change=built_programs(
            'libc = "uclibc", static = true in [initramfs.programs."/path"], with its `uclibc_compiler`',
            {"libc": Libc.UCLIBC, "static": True},
            refuses=_no_uclibc,
        ),
        # By glibc's note, as with musl; that the compiler's library is uClibc was asked of itself when it was built.
        proof=fact_is("application.libc", "^another$"),
    ),
    Technique(
        name="application_thumb2",
        text=Text(
            summary="compiles the application for the shorter Thumb-2 instructions of 32-bit arm",
            mechanism=(
                "Most instructions take two bytes instead of four, so there is less to read from storage "
                "and to unpack; the program executes about as many."
            ),
            cost="none worth naming on a CPU that has them; hand-written ARM assembly must allow for it",
            risk=Risk.NONE,
            published=(Published("-18 % of file system, -19 % of ffmpeg, under 5 % faster", BOOTLIN_2019),),
        ),
        change=built_programs(
            'instructions = "thumb2" in [initramfs.programs."/path"]',
            {"instructions": Instructions.THUMB2},
            arch=("armv7",),
        ),
        proof=fact_falls("application.bytes", to_percent=95),
    ),
)
