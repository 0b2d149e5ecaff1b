"""Build without configfs."""

from bootlab.techniques.build_options import BOOTLIN_2019, off, option_technique
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_configfs_off",
    options=off("CONFIGFS_FS"),
    gates=off(
        "NETCONSOLE_DYNAMIC",
        "USB_LIBCOMPOSITE",
        "USB_CONFIGFS",
        "TARGET_CORE",
        "NVME_TARGET",
        "OCFS2_FS",
        "DLM",
        "IIO_CONFIGFS",
        "BLK_DEV_NULL_BLK",
        "GPIO_SIM",
        "TSM_REPORTS",
        "TDX_GUEST_DRIVER",
        "SEV_GUEST",
        "STM",
    ),
    summary="builds without the file system that configures some drivers from user space",
    mechanism=(
        "One more pseudo file system to register, and its users with it: USB gadgets, the storage "
        "target, network console."
    ),
    cost="what is configured through /sys/kernel/config is gone",
    risk=Risk.FUNCTION,
    sources=(Source("-7 KB of compressed kernel", BOOTLIN_2019),),
    shows=initcalls_gone("configfs_init"),
    removes=Removes("configfs", functions=("configfs_init",)),
)
