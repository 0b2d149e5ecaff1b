"""Link the application with musl."""

from bootlab.system import Libc
from bootlab.techniques.build_options import BOOTLIN_2019
from bootlab.techniques.evidence import fact_is
from bootlab.techniques.source_programs import program_technique
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = program_technique(
    name="application_musl",
    changes={"libc": Libc.MUSL, "static": True},
    summary="links the application with musl instead of glibc, static",
    mechanism=(
        "musl's start-up does less (no IRELATIVE relocations, no locale and no NSS machinery), and a static program "
        "takes little of it, so the image is smaller."
    ),
    knob='libc = "musl", static = true in [initramfs.programs."/path"]',
    cost="another C library: no glibc locales, NSS or gconv, and its own malloc, which is slower with threads",
    risk=Risk.FUNCTION,
    sources=(Source("musl 680 KB, uClibc 570 KB, no other significant change", BOOTLIN_2019),),
    prove=fact_is("application.compiler", "clang"),
)
