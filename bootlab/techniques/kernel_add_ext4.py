"""Give the kernel ext4."""

from bootlab.techniques.build_options import VENTURA_2024, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_add_ext4",
    options={"EXT4_FS": "y"},
    gates={"BLOCK": "y"},
    summary="gives the kernel the ext4 file system",
    mechanism="The journal's and ext4's caches, and the checksum that both are built on.",
    cost="a dozen caches and threads for each mount",
    risk=Risk.NONE,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}: a part of what his kernel has, grown from tinyconfig"),),
    adds=True,
)
