"""Output folders as Buildroot, Yocto, NixOS and mkosi lay them out, of small files: names and texts are theirs."""

import json
import struct
from pathlib import Path

import zstandard

from tests.build.outputs.test_qemu_words import PC, VIRT

# Of a build of Buildroot 2026.02.3: the lines of its .config that are read.
BUILDROOT_CONFIG = """#
# Automatically generated file; DO NOT EDIT.
# Buildroot 2026.02.3 Configuration
#
BR2_HAVE_DOT_CONFIG=y
BR2_ARCH="{arch}"
BR2_DEFCONFIG="$(CONFIG_DIR)/configs/{defconfig}"
BR2_DL_DIR="{downloads}"
BR2_TARGET_GENERIC_GETTY=y
BR2_LINUX_KERNEL_CUSTOM_TARBALL_LOCATION=""
{more}"""
# Of OE-core's meta/classes-recipe/qemuboot.bbclass, as Python's configparser writes it: keys in small letters.
QEMUBOOT = """[config_bsp]
deploy_dir_image = .
image_link_name = core-image-minimal-qemux86-64.rootfs
image_name = core-image-minimal-qemux86-64.rootfs-20260822095304
kernel_image_bin_ext = .bin
kernel_image_name = bzImage--6.18.44+git0+1b6ed62ce6-r0-qemux86-64-20260822095304
kernel_imagetype = bzImage
machine = qemux86-64
qb_audio_drv = alsa
qb_cmdline_ip_slirp = ip=dhcp
qb_cmdline_ip_tap = ip=192.168.7.@CLIENT@::192.168.7.@GATEWAY@:255.255.255.0::eth0:off:8.8.8.8 net.ifnames=0
qb_cpu = -cpu Skylake-Client -machine q35,i8042=off
qb_default_fstype = ext4.zst
qb_default_kernel = {kernel}
qb_drive_type = /dev/sd
qb_kernel_cmdline_append = oprofile.timer=1 tsc=reliable no_timer_check rcupdate.rcu_expedited=1 swiotlb=0
qb_kernel_root = /dev/vda
qb_mem = -m 256
qb_network_device = -device virtio-net-pci,netdev=net0,mac=@MAC@
qb_opt_append = -usb -device usb-tablet -usb -device usb-kbd
qb_rng = -object rng-random,filename=/dev/urandom,id=rng0 -device virtio-rng-pci,rng=rng0
qb_serial_opt = -serial mon:stdio -serial null
qb_smp = -smp 4
qb_system_name = qemu-system-x86_64
serial_consoles = 115200;ttyS0 115200;ttyS1
tune_arch = x86_64
{more}
"""
YOCTO_KERNEL = "bzImage--6.18.44+git0+1b6ed62ce6-r0-qemux86-64-20260822095304.bin"
YOCTO_IMAGE = "core-image-minimal-qemux86-64.rootfs"


def write(path: Path, content: str | bytes = b"x") -> Path:
    """Write a file, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def bzimage() -> bytes:
    """Return the head of an x86-64 kernel, as far as it is read (Documentation/arch/x86/boot.rst)."""
    data = bytearray(4096)
    data[0x1F1] = 4
    data[0x1FE:0x200] = b"\x55\xaa"
    data[0x202:0x208] = b"HdrS" + struct.pack("<H", 0x20F)
    struct.pack_into("<H", data, 0x236, 1)
    return bytes(data)


def plain_image(arch: str) -> bytes:
    """Return the head of an Image of arm64 or riscv64 (arch/arm64/booting.rst, arch/riscv/boot-image-header.rst)."""
    data = bytearray(4096)
    data[56:60] = b"ARM\x64" if arch == "aarch64" else b"RSC\x05"
    return bytes(data)


def zimage() -> bytes:
    """Return the head of a 32-bit arm kernel: its magic, where it begins and where it ends."""
    return bytes(0x24) + struct.pack("<III", 0x016F2818, 0, 4096) + bytes(4096 - 0x30)


_KERNELS = {"bzImage": bzimage(), "Image": plain_image("aarch64"), "zImage": zimage()}


def buildroot(
    top: Path, *images: str, arch: str = "x86_64", defconfig: str = "qemu_x86_64_defconfig", more: str = ""
) -> Path:
    """Lay out output/ as `make` leaves it, with files of these names in images/."""
    output = top / "output"
    (output / "images").mkdir(parents=True)
    for name in images:
        write(output / "images" / name, _KERNELS.get(name, name))
    text = BUILDROOT_CONFIG.format(arch=arch, defconfig=defconfig, downloads=top / "dl", more=more)
    write(output / ".config", text)
    return output


def buildroot_started(top: Path, words: str = PC) -> Path:
    """Lay out the output of a QEMU defconfig: with start-qemu.sh, and a kernel that was built in build/."""
    output = buildroot(top, "bzImage", "rootfs.ext2", "Image", "rootfs.ext4")
    script = f'#!/bin/sh\nBINARIES_DIR="${{0%/*}}/"\ncd "${{BINARIES_DIR}}"\n{words}\n'
    write(output / "images/start-qemu.sh", script)
    write(output / "build/linux-6.12.47/.config", "CONFIG_KALLSYMS=y\nCONFIG_EXT4_FS=y\n")
    write(output / "build/linux-6.12.47/vmlinux")
    write(output / "build/linux-6.12.47/.applied_patches_list", f"{top}/patches/linux/0001-mine.patch\n")
    write(top / "patches/linux/0001-mine.patch")
    write(top / "dl/linux/linux-6.12.47.tar.xz")
    return output


def yocto(top: Path, *, more: str = "", root: str = "ext4.zst", content: bytes = zstandard.compress(b"root")) -> Path:
    """Lay out tmp/deploy/images/qemux86-64 as bitbake leaves it, links and all."""
    folder = top / "tmp/deploy/images/qemux86-64"
    stamped = f"{YOCTO_IMAGE}-20260822095304"
    write(folder / YOCTO_KERNEL, bzimage())
    (folder / "bzImage").symlink_to(YOCTO_KERNEL)
    write(folder / f"{stamped}.{root}", content)
    (folder / f"{YOCTO_IMAGE}.{root}").symlink_to(f"{stamped}.{root}")
    write(folder / f"{stamped}.qemuboot.conf", QEMUBOOT.format(kernel=YOCTO_KERNEL, more=more))
    (folder / f"{YOCTO_IMAGE}.qemuboot.conf").symlink_to(f"{stamped}.qemuboot.conf")
    data = {"DISTRO_NAME": "OpenEmbedded", "DISTRO_VERSION": "nodistro.0", "LAYERSERIES_CORENAMES": "wrynose"}
    data["PREFERRED_PROVIDER_virtual/kernel"] = "linux-yocto"
    write(folder / f"{YOCTO_IMAGE}.testdata.json", json.dumps(data))
    return folder


def yocto_source(top: Path, *, config: str = "CONFIG_KALLSYMS=y\n", system_map: bytes = b"") -> None:
    """Lay out tmp/work-shared, where the kernel's source and configuration are until rm_work takes them."""
    shared = top / "tmp/work-shared/qemux86-64"
    write(shared / "kernel-source/Makefile", "VERSION = 6\n")
    write(shared / "kernel-build-artifacts/.config", config)
    write(shared / "kernel-build-artifacts/System.map-6.18.44-yocto-standard", system_map)


__all__ = [
    "PC",
    "VIRT",
    "YOCTO_IMAGE",
    "YOCTO_KERNEL",
    "buildroot",
    "buildroot_started",
    "bzimage",
    "plain_image",
    "write",
    "yocto",
    "yocto_source",
]
