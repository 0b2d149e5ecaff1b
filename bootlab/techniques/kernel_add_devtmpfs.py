"""Give the system its device nodes."""

from bootlab.techniques.build_options import VENTURA_2024, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_add_devtmpfs",
    options={"DEVTMPFS": "y", "DEVTMPFS_MOUNT": "y"},
    summary="gives the system device nodes made by the kernel",
    mechanism="A thread makes a node for each device that registers, so init needs no list of them.",
    cost="a kernel thread that is woken for each device",
    risk=Risk.NONE,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}: a part of what his kernel has, grown from tinyconfig"),),
    adds=True,
)
