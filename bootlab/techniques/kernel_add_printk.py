"""Give the kernel its messages."""

from bootlab.techniques.build_options import VENTURA_2024, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_add_printk",
    options={"PRINTK": "y"},
    gates={"EXPERT": "y"},
    summary="gives the kernel its messages, from a kernel that has none",
    mechanism=(
        "The buffer, the formatting of each message and the console driver that prints it; without them "
        "not even a crash says why."
    ),
    cost="the time to format and print each message",
    risk=Risk.NONE,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}: a part of what his kernel has, grown from tinyconfig"),),
    adds=True,
)
