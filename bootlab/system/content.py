"""What the kernel finds as its first file systems: an initramfs, a root file system."""

from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from bootlab.system.coldplug import Coldplug
from bootlab.system.disk_model import AnyDiskModel
from bootlab.system.part import TEXT, WORD, Part
from bootlab.system.power_on.power_on import KeptRam
from bootlab.system.preload import Preload
from bootlab.system.readahead import ReadAhead
from bootlab.system.source.program import SourceProgram


class Compression(StrEnum):
    """How an initramfs is compressed."""

    NONE = "none"
    GZIP = "gzip"
    LZ4 = "lz4"
    ZSTD = "zstd"
    XZ = "xz"
    LZO = "lzo"


class FileSystem(StrEnum):
    """The file systems that a root can be made as."""

    EXT4 = "ext4"
    SQUASHFS = "squashfs"
    EROFS = "erofs"


class Content(Part):
    """What goes into an initramfs or a root file system. Later sources lie over earlier ones, in the order given here.

    Only busybox's applets give way: they take names that nothing else has.

    A recipe always carries bootlab's own `/sbin/bootlab-mark` and `/sbin/bootlab-facts`.
    """

    packages: tuple[str, ...] = Field(default=(), strict=False)
    """Debian packages and what they depend on, unpacked; only with `scripts` are their installation scripts run."""
    scripts: bool = False
    """Let mmdebstrap install `packages`, and Debian's essential ones, as on a machine: users, caches, alternatives."""
    run: tuple[str, ...] = Field(default=(), strict=False)
    """Shell commands in the root that `scripts` installed, with `directory` over it: `update-rc.d NAME defaults`."""
    suite: str | None = None
    """Debian suite of `packages` and busybox; by default the suite of this machine, busybox's the kernel's."""
    directory: Path | None = Field(default=None, strict=False)
    """A folder whose content becomes the root; owner root, times zero."""
    busybox: bool = True
    """Put the distribution's static busybox, with its applet links, into /bin."""
    busybox_applets: Literal["used"] | Annotated[tuple[Annotated[str, WORD], ...], TEXT] | None = Field(
        default=None, exclude_if=lambda value: value is None
    )
    """Build busybox from Debian's source with these applets alone: `"used"`, those that its files name, or a list."""
    init: Path | None = Field(default=None, strict=False)
    """The file that becomes /init."""
    bootlab_init: bool = False
    """Carry bootlab-init and bootlab-ctl in /sbin; without `init`, the former is /init."""
    clone_agent: bool = Field(default=False, exclude_if=lambda value: not value)
    """Carry bootlab-clone in /sbin, which a program starts where a snapshot of the system belongs (snapshots.md)."""
    sleep_agent: bool = Field(default=False, exclude_if=lambda value: not value)
    """Carry bootlab-sleep in /sbin, which puts the machine to sleep and takes up its image (persistence.md)."""
    files: dict[str, Annotated[Path, TEXT]] = {}
    """Path in the archive -> file on the host."""
    texts: dict[str, str] = Field(default={}, exclude_if=lambda value: not value)
    """Path in the archive -> text of the file that lies there, over all of the above: a unit, a drop-in, a rule."""
    programs: dict[str, SourceProgram] = {}
    """Path in the archive -> a program to build from a Debian source package."""
    modules: tuple[str, ...] = Field(default=(), strict=False)
    """Kernel modules by name; their dependencies come along. `*` takes every module of the kernel."""
    coldplug: Coldplug | None = None
    """Modules for a list of devices, loaded by bootlab-coldplug."""
    without: tuple[str, ...] = Field(default=(), strict=False)
    """Paths to leave out at last, a folder with all below it."""

    @model_validator(mode="after")
    def _scripts_of_packages(self) -> Self:
        if self.scripts and not self.packages:
            raise ValueError("scripts are those of packages, and there are none")
        if self.busybox_applets is not None and not self.busybox:
            raise ValueError("busybox_applets are those of busybox, and busybox = false leaves it out")
        if self.busybox_applets == ():
            raise ValueError('busybox_applets names no applet: busybox = false leaves busybox out, "used" finds them')
        if self.run and not self.scripts:
            raise ValueError("run has commands for a root that is installed: it needs scripts = true")
        return self

    @property
    def wants_modules(self) -> bool:
        """Whether modules of the system's kernel go into it."""
        return bool(self.modules) or self.coldplug is not None

    def file_at(self, path: str) -> Path | None:
        """Return the host's file that `files` puts at `path`, absolute in the guest; None for none."""
        return next(
            (file for name, file in self.files.items() if PurePosixPath("/", name) == PurePosixPath(path)), None
        )

    @property
    def runs_bootlab_init(self) -> bool:
        """Whether bootlab-init and bootlab-ctl are in it."""
        return self.bootlab_init

    @property
    def is_recipe(self) -> bool:
        """Return whether it says how to make it, as against a finished file."""
        files = (self.files, self.texts, self.programs)
        content = (self.init, self.bootlab_init, self.directory, self.packages, *files)
        return any(map(bool, content)) or self.wants_modules


class Initramfs(Content):
    """An initramfs by path, or a recipe for a newc archive."""

    path: Path | None = Field(default=None, strict=False)
    compression: Annotated[Compression, TEXT] = Compression.GZIP
    embedded: bool = False
    """Inside the kernel image, for a kernel that is built (CONFIG_INITRAMFS_SOURCE)."""
    mount_root: bool = Field(default=False, exclude_if=lambda value: not value)
    """Carry an /init that loads the modules, mounts the root that kernel.cmdline names, and starts its init."""
    installed: bool = False
    """Begin with the one that the packages of [rootfs] made when they were installed (initramfs-tools)."""
    keep_modules: tuple[str, ...] | None = Field(default=None, strict=False)
    """Modules that stay in the installed initramfs, with those that they need; None keeps all."""

    @model_validator(mode="after")
    def _path_or_recipe(self) -> Self:
        if self.path is not None and (self.is_recipe or self.without):
            raise ValueError("path names a finished archive; init, files, modules and the like belong to a recipe")
        if self.mount_root and (self.init or self.bootlab_init or not self.busybox):
            raise ValueError("mount_root brings an /init, a script of busybox's: without init, with busybox = true")
        if self.keep_modules is not None and not self.installed:
            raise ValueError("keep_modules is for installed = true; modules names those of a recipe")
        if self.path is None and not (
            self.init
            or self.bootlab_init
            or self.mount_root
            or self.directory
            or self.packages
            or self.installed
            or self.file_at("/init")
            or any(PurePosixPath("/", path) == PurePosixPath("/init") for path in self.programs)
        ):
            raise ValueError(
                "give path (a finished archive), init (the file that becomes /init), bootlab_init = true, directory, "
                "packages, a file or program at /init, or installed = true"
            )
        return self

    @property
    def wants_modules(self) -> bool:
        """Whether modules of the system's kernel go into it, or what it holds must fit to that kernel."""
        return super().wants_modules or self.installed

    @property
    def is_recipe(self) -> bool:
        return self.installed or self.mount_root or super().is_recipe


class Rootfs(Content):
    """A root file system by path, or a recipe for one: the first disk or an NVDIMM. Never written to."""

    path: Path | None = Field(default=None, strict=False)
    source: Path | None = Field(default=None, strict=False, exclude_if=lambda value: value is None)
    """A whole root: a folder, a tar archive, a container image (docker save, OCI); owners and capabilities stay."""
    source_image: str | None = Field(default=None, exclude_if=lambda value: value is None)
    """Which container image of several: its name, its platform (linux/arm64) or its digest."""
    start: Literal["init", "command"] = Field(default="init", exclude_if=lambda value: value == "init")
    """What is started in `source`: its own /sbin/init, or by bootlab-init the command of a container image."""
    command: tuple[str, ...] = Field(default=(), strict=False, exclude_if=lambda value: not value)
    """The program and its arguments, instead of the image's own."""
    filesystem: Annotated[FileSystem, TEXT] = FileSystem.EXT4
    compression: Annotated[Compression, TEXT] = Compression.NONE
    """How squashfs and erofs are compressed."""
    size_mib: int | None = Field(default=None, ge=1, le=1 << 20)
    """Size of an ext4 file system; by default what fits, and a quarter more."""
    journal: bool = True
    """Whether an ext4 file system has a journal."""
    late: tuple[str, ...] = Field(default=(), strict=False, exclude_if=lambda value: not value)
    """Paths of an ext4 root, each with all below it, that have a part of it of their own: what changes there changes no
    block outside of it, so that boots may begin at a mark before it is read (snapshots.md)."""
    late_mib: int = Field(default=16, ge=1, le=1 << 16, exclude_if=lambda value: value == 16)
    """How large that part is: what they may grow to."""
    device: Literal["virtio-blk", "nvme", "scsi", "pmem", "kept-ram"] = "virtio-blk"
    """/dev/vda, /dev/nvme0n1, /dev/sda; `pmem`: memory that keeps (an NVDIMM, /dev/pmem0); `kept-ram`: RAM that
    outlives the power, with its copy on /dev/vda (persistence.md). Each repeats exactly."""
    kept_ram: KeptRam | None = Field(default=None, exclude_if=lambda value: value is None)
    """Where in memory it lies, of `device = "kept-ram"`."""
    # Left out of documents where there is none, as those of older boots.
    model: AnyDiskModel | None = Field(default=None, exclude_if=lambda value: value is None)
    """What the disk takes on the virtual clock; without one it answers at once."""
    keep_writes: bool = Field(default=False, exclude_if=lambda value: not value)
    """Keep all that is written to a disk with a model, with the boot: what a power cut leaves follows from it."""
    readahead: ReadAhead | None = Field(default=None, exclude_if=lambda value: value is None)
    """What is read ahead as the system starts."""
    preload: Preload | None = Field(default=None, exclude_if=lambda value: value is None)
    """What is read for the next session, while its user still types a password."""
    layout: Path | None = Field(default=None, strict=False, exclude_if=lambda value: value is None)
    """A pack, or the console of a boot that printed one: its files lie first in an ext4 image, as the boot asked."""
    layout_text: str = Field(default="", exclude_if=lambda value: not value)
    """The same pack, in place of a file."""

    @model_validator(mode="after")
    def _path_or_recipe(self) -> Self:
        if self.path is not None and (self.is_recipe or self.without):
            raise ValueError("path names a finished image; init, files, directory and the like belong to a recipe")
        if self.path is None and not self.is_recipe:
            raise ValueError(
                "give path (a finished image) or what it holds: init, files, directory, packages or source"
            )
        if self.source is not None and self.packages:
            raise ValueError("source is a whole root, and packages make another one: give one of the two")
        if self.source is None and (self.source_image is not None or self.start != "init" or self.command):
            raise ValueError("source_image, start and command are of a source, and there is none")
        if self.start == "command" and (self.init is not None or self.bootlab_init):
            raise ValueError('start = "command" makes bootlab-init process 1: leave out init and bootlab_init')
        if self.command and self.start != "command":
            raise ValueError('command is what start = "command" starts')
        if self.filesystem is FileSystem.EXT4 and self.compression is not Compression.NONE:
            raise ValueError("ext4 is not compressed; squashfs and erofs are")
        if self.filesystem is not FileSystem.EXT4 and self.size_mib is not None:
            raise ValueError("size_mib is for ext4: the other file systems are read-only and as large as they need")
        if self.filesystem is not FileSystem.EXT4 and not self.journal:
            raise ValueError("journal is for ext4: the other file systems are read-only and have none")
        if self.readahead is not None and (self.path is not None or self.filesystem is not FileSystem.EXT4):
            raise ValueError("readahead is for an ext4 root that a recipe makes")
        if self.preload is not None and (self.path is not None or self.filesystem is not FileSystem.EXT4):
            raise ValueError("preload is for an ext4 root that a recipe makes")
        if self.laid_out and (self.path is not None or self.filesystem is not FileSystem.EXT4):
            raise ValueError("layout is for an ext4 root that a recipe makes")
        if self.layout is not None and self.layout_text:
            raise ValueError("layout and layout_text: give one of them")
        if self.late and (self.path is not None or self.filesystem is not FileSystem.EXT4):
            raise ValueError("late is for an ext4 root that a recipe makes")
        if wrong := [
            path for path in self.late if not path.startswith("/") or path != str(PurePosixPath(path)) or path == "/"
        ]:
            raise ValueError(f"late {wrong[0]!r}: expected the whole path of a file or folder in the root: /app")
        if self.keep_writes and self.model is None:
            raise ValueError("keep_writes is of a disk with a model")
        if (self.device == "kept-ram") != (self.kept_ram is not None):
            raise ValueError('device = "kept-ram" and kept_ram go together: kept_ram = { size_mib = 32 }')
        if self.kept_ram is not None and self.kept_ram.without and self.path is not None:
            raise ValueError("path names a finished image; kept_ram.without leaves files of a recipe out")
        if self.model is not None and self.device not in ("virtio-blk", "kept-ram"):
            raise ValueError(f'model is of a disk on virtio, and device is "{self.device}"')
        return self

    @property
    def is_recipe(self) -> bool:
        return self.source is not None or super().is_recipe

    @property
    def kept_files(self) -> Self:
        """Return the recipe of what is kept in RAM of it: itself, but for `kept_ram.without`."""
        left = self.kept_ram.without if self.kept_ram is not None else ()
        return self.model_copy(update={"without": (*self.without, *left)}) if left else self

    @property
    def laid_out(self) -> bool:
        """Whether its files lie in the order of a pack."""
        return self.layout is not None or bool(self.layout_text)

    @property
    def runs_bootlab_init(self) -> bool:
        return self.bootlab_init or self.start == "command"
