"""What is known of a disk image without having booted it: its partitions, and how each firmware comes to a kernel."""

from bootlab.system.part import Part

BIOS, UEFI = "bios", "uefi"


class PartitionFound(Part):
    """A partition: what lies on it, and how large it is, in bytes."""

    number: int
    kind: str
    bytes: int
    is_esp: bool = False


class LoadedProgram(Part):
    """A program of the chain: its first instructions, for whoever watches for them. `file` is its name in the cache."""

    kind: str
    version: str
    path: str
    file: str


class LoaderText(Part):
    """A file that the loader reads: the partition it is on, its path there, and its kind (build.image.loader_text)."""

    partition: int
    path: str
    kind: str


class Chain(Part):
    """How one firmware comes to a kernel. `kernel` and `initramfs` are names in the cache; empty: not found."""

    loader: str
    programs: tuple[LoadedProgram, ...] = ()
    title: str = ""
    kernel_path: str = ""
    words: str = ""
    wait_s: float | None = None
    texts: tuple[LoaderText, ...] = ()
    kernel: str = ""
    initramfs: str = ""
    initramfs_maker: str = ""
    missing: tuple[str, ...] = ()
    """What the entry names as its initramfs, and is not there."""
    unusable: tuple[str, ...] = ()
    """Files in EFI/Linux that systemd-boot has no entry of, each with why."""
    initramfs_place: LoaderText | None = None
    """Where it lies, if it is one file by itself; of the kind `initramfs`."""

    @property
    def unusable_words(self) -> str:
        """Return `unusable` as the end of a sentence; empty where there is none."""
        return f"; not in its menu: {', '.join(self.unusable)}" if self.unusable else ""


class ImageContents(Part):
    """What is known of an image without having booted it."""

    format: str
    bytes: int
    scheme: str
    partitions: tuple[PartitionFound, ...]
    os_name: str = ""
    arch: str = "x86_64"
    chains: dict[str, Chain] = {}
    """By `bios` and `uefi`."""
    boot_code: str = ""
    """The first bytes of its first sector, in hex, where that has code."""
    core_code: str = ""
    """The same of GRUB's core.img, which that loads."""
    cd_code: str = ""
    """The first bytes of what BIOS starts from it as a CD, in hex, and those of the GRUB behind that."""
    cd_core_code: str = ""


def describe_partitions(contents: ImageContents) -> str:
    """Return the partitions in words, for a message."""
    if contents.format == "iso":
        how = ", ".join(f"El Torito for {key.upper()}" for key in sorted(contents.chains)) or "El Torito for neither"
        return f"ISO 9660 of {contents.bytes >> 20:,} MiB, {how}"
    if not contents.scheme:
        return f"no partition table, {contents.partitions[0].kind if contents.partitions else 'nothing'} all over"
    listed = (f"partition {one.number} ({one.kind}, {one.bytes >> 20:,} MiB)" for one in contents.partitions)
    return ", ".join(listed) or "no partition"
