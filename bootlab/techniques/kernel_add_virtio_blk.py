"""Give the kernel a disk."""

from bootlab.techniques.build_options import VENTURA_2024, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Risk, Source
from bootlab.techniques.virtio_bus import virtio_bus

TECHNIQUE = option_technique(
    name="kernel_add_virtio_blk",
    options={"BLOCK": "y", "BLK_DEV": "y", "VIRTIO_MENU": "y", "VIRTIO_BLK": "y"},
    summary="gives the kernel block devices and virtio disks",
    mechanism=(
        "Queues, partitions and the driver of virtio disks on the bus of this machine: virtio-mmio on "
        "microvm, PCI on others."
    ),
    cost="the block layer, and one probe for each disk",
    risk=Risk.NONE,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}: a part of what his kernel has, grown from tinyconfig"),),
    more=virtio_bus,
    adds=True,
)
