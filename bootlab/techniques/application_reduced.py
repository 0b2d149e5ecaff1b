"""Build the application with only what this system needs of it."""

from bootlab.system import SourceProgram
from bootlab.techniques.build_options import BOOTLIN_2019
from bootlab.techniques.evidence import fact_falls
from bootlab.techniques.source_programs import program_technique
from bootlab.techniques.technique import Risk, Source


def _refuses(program: SourceProgram) -> str | None:
    return None if program.reduced else f"{program.package}: `reduced` names no words for its configure script"


TECHNIQUE = program_technique(
    name="application_reduced",
    changes={"reduce": True},
    refuses=_refuses,
    summary="configures the application without the features that this system does not use",
    mechanism=(
        "A general program carries every format, protocol and device that it knows. What is left out is neither read "
        "from storage, nor unpacked, nor relocated, nor registered when the program starts."
    ),
    knob='reduce = true, with the words for its configure script in `reduced`, in [initramfs.programs."/path"]',
    cost="what was left out is not there: another camera or format needs another build",
    risk=Risk.FUNCTION,
    sources=(
        Source("-350 ms of total boot time; system 16.11 -> 3.54 MB (-78 %); ffmpeg itself -150 ms", BOOTLIN_2019),
    ),
    prove=fact_falls("application.bytes", to_percent=80),
)
