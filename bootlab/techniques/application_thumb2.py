"""Compile the application for Thumb-2."""

from bootlab.system import Instructions
from bootlab.techniques.build_options import BOOTLIN_2019
from bootlab.techniques.evidence import fact_falls
from bootlab.techniques.source_programs import program_technique
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = program_technique(
    name="application_thumb2",
    changes={"instructions": Instructions.THUMB2},
    arch=("armv7",),
    summary="compiles the application for the shorter Thumb-2 instructions of 32-bit arm",
    mechanism=(
        "Most instructions take two bytes instead of four, so there is less to read from storage and to unpack; the "
        "program executes about as many."
    ),
    knob='instructions = "thumb2" in [initramfs.programs."/path"]',
    cost="none worth naming on a CPU that has them; hand-written ARM assembly must allow for it",
    risk=Risk.NONE,
    sources=(Source("-18 % of file system, -19 % of ffmpeg, under 5 % faster", BOOTLIN_2019),),
    prove=fact_falls("application.bytes", to_percent=95),
)
