"""Give the kernel IP and a network card."""

from bootlab.techniques.build_options import VENTURA_2024, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Risk, Source
from bootlab.techniques.virtio_bus import virtio_bus

TECHNIQUE = option_technique(
    name="kernel_add_network",
    options={
        "NET": "y",
        "INET": "y",
        "UNIX": "y",
        "PACKET": "y",
        "NETDEVICES": "y",
        "NET_CORE": "y",
        "VIRTIO_MENU": "y",
        "VIRTIO_NET": "y",
    },
    summary="gives the kernel sockets, IPv4 and virtio network cards",
    mechanism=(
        "Hash tables for connections, routes and neighbours are sized by memory, protocols register, and "
        "each card is probed with its queues."
    ),
    cost="the largest single step: the network stack",
    risk=Risk.NONE,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}: a part of what his kernel has, grown from tinyconfig"),),
    more=virtio_bus,
    adds=True,
)
