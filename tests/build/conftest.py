"""Packages made on the spot: a kernel's, with real ELF modules and no compiler, and an archive of them for apt."""

import hashlib
import lzma
import re
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from bootlab.process import run

MakePackage = Callable[..., Path]


def elf_module(**info: str) -> bytes:
    """Return the ELF file of a module: nothing but a .modinfo section, as modpost writes it."""
    modinfo = b"".join(f"{key}={value}\0".encode() for key, value in info.items())
    names = b"\0.modinfo\0.shstrtab\0"
    header = struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 1, 62, 1, 0, 0, 64 + len(modinfo) + len(names), 0, 64, 0, 0, 64, 3, 2
    )
    sections = [
        bytes(64),
        struct.pack("<IIQQQQIIQQ", 1, 1, 2, 0, 64, len(modinfo), 0, 0, 1, 0),
        struct.pack("<IIQQQQIIQQ", 10, 3, 0, 0, 64 + len(modinfo), len(names), 0, 0, 1, 0),
    ]
    return header + modinfo + names + b"".join(sections)


def make_package(root: Path, *, base: str = "lib", suffix: str = ".ko") -> Path:
    """Make an unpacked kernel package with a handful of modules below a folder, and return that."""
    folder = root / base / "modules" / "6.1.0-test"
    modules = {
        "drivers/virtio_blk": elf_module(license="GPL", depends="virtio,virtio_ring"),
        "drivers/virtio": elf_module(depends="virtio_ring"),
        "drivers/virtio_ring": elf_module(depends=""),
        "drivers/virtio-rng": elf_module(depends="virtio"),
        "fs/btrfs": elf_module(depends="xor", softdep="pre: crc32c sha256 post: later"),
        "lib/xor": elf_module(depends=""),
        "crypto/crc32c": elf_module(),
    }
    for name, content in modules.items():
        path = folder / "kernel" / f"{name}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        packed = {".ko": content, ".ko.xz": lzma.compress(content), ".ko.zst": zstandard.compress(content)}
        path.write_bytes(packed[suffix])
    (folder / "modules.builtin").write_text("kernel/fs/ext4/ext4.ko\nkernel/crypto/crc32c-generic.ko\n")
    return root


@pytest.fixture
def kernel_package() -> MakePackage:
    """Make an unpacked kernel package with a handful of modules below a folder, in the layout and compression asked."""
    return make_package


@pytest.fixture
def module() -> Callable[..., bytes]:
    """Make the ELF file of a kernel module with this .modinfo."""
    return elf_module


class LocalArchive:
    """A Debian archive in a folder, and an apt configuration that names it as this machine's source."""

    def __init__(self, root: Path) -> None:
        self.root = root / "debian"
        self.apt = root / "etc-apt"
        (self.apt / "sources.list.d").mkdir(parents=True)
        (self.apt / "sources.list").write_text(f"deb [trusted=yes] file://{self.root} bookworm main\n")
        self._stanzas: dict[str, str] = {}
        self._sources: dict[str, str] = {}

    def add(
        self,
        name: str,
        version: str,
        files: dict[str, str],
        depends: str = "",
        finish: Callable[[Path], None] = lambda tree: None,
        *,
        beside: bool = False,
    ) -> None:
        """Put a package in, in place of an earlier version of it, or `beside` that.

        `finish` changes its tree before it is packed.
        """
        tree = self.root.parent / "trees" / f"{name}_{version}"
        (tree / "DEBIAN").mkdir(parents=True, exist_ok=beside)
        control = f"Package: {name}\nVersion: {version}\nArchitecture: amd64\nMaintainer: nobody <n@invalid>\n"
        control += f"Depends: {depends}\n" if depends else ""
        control += "Description: a test\n"
        (tree / "DEBIAN" / "control").write_text(control)
        for path, text in files.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_text(text)
        finish(tree)
        pool = self.root / "pool"
        pool.mkdir(parents=True, exist_ok=True)
        archive = pool / f"{name}_{version}_amd64.deb"
        for old in pool.glob(f"{name}_*"):
            if not beside:
                old.unlink()
        if not archive.exists():
            run(["dpkg-deb", "--root-owner-group", "-Zgzip", "--build", tree, archive])
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        place = f"Filename: pool/{archive.name}\nSize: {archive.stat().st_size}\nSHA256: {digest}\n"
        self._stanzas[f"{name}={version}" if beside else name] = control + place

    def begin_suite(self, suite: str) -> None:
        """Name another suite as a source: packages that are added from now on are published there alone."""
        with (self.apt / "sources.list").open("a") as sources:
            sources.write(f"deb [trusted=yes] file://{self.root} {suite} main\n")
        self._stanzas.clear()

    def add_source(self, name: str, version: str, files: dict[str, str]) -> None:
        """Put a source package in, in place of an earlier version of it; files named `configure` can be run."""
        tree = self.root.parent / "sources" / f"{name}-{version}"
        control = f"Source: {name}\nMaintainer: nobody <n@invalid>\n\nPackage: {name}\nArchitecture: any\n"
        change = f"{name} ({version}) bookworm; urgency=low\n\n  * Test.\n\n"
        debian = {
            "debian/control": f"{control}Description: a test\n",
            "debian/changelog": f"{change} -- nobody <n@invalid>  Thu, 01 Jan 2026 00:00:00 +0000\n",
            "debian/source/format": "3.0 (native)\n",
        }
        for path, text in {**files, **debian}.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_text(text)
            (tree / path).chmod(0o755 if path == "configure" else 0o644)
        pool = self.root / "pool"
        pool.mkdir(parents=True, exist_ok=True)
        for old in pool.glob(f"{name}_*"):
            old.unlink()
        run(["dpkg-source", "--build", tree], cwd=pool, package="dpkg-dev")
        sums = "".join(
            f" {hashlib.sha256(path.read_bytes()).hexdigest()} {path.stat().st_size} {path.name}\n"
            for path in sorted(pool.glob(f"{name}_*"))
        )
        head = f"Package: {name}\nBinary: {name}\nVersion: {version}\nFormat: 3.0 (native)\nDirectory: pool\n"
        self._sources[name] = f"{head}Checksums-Sha256:\n{sums}"

    def publish(self, name: str = "bookworm", origin: str = "Debian") -> None:
        """Write a suite's lists of packages and of sources, and its Release file."""
        suite = self.root / "dists" / name
        folder = suite / "main" / "binary-amd64"
        folder.mkdir(parents=True, exist_ok=True)
        text = "\n".join(self._stanzas.values()).encode()
        (folder / "Packages").write_bytes(text)
        line = f" {hashlib.sha256(text).hexdigest()} {len(text)} main/binary-amd64/Packages\n"
        sources = "\n".join(self._sources.values()).encode()
        (suite / "main" / "source").mkdir(exist_ok=True)
        (suite / "main" / "source" / "Sources").write_bytes(sources)
        line += f" {hashlib.sha256(sources).hexdigest()} {len(sources)} main/source/Sources\n"
        head = f"Origin: {origin}\nSuite: {name}\nCodename: {name}\nComponents: main\nArchitectures: amd64\n"
        (suite / "Release").write_text(f"{head}Date: Thu, 01 Jan 2026 00:00:00 UTC\nSHA256:\n{line}")

    def spoil(self) -> None:
        """Be as a mirror in the middle of its own update: it answers, with lists that do not match what it promises."""
        release = self.root / "dists/bookworm/Release"
        text = release.read_text().replace("Thu, 01 Jan", "Fri, 02 Jan")
        release.write_text(re.sub(r"^ [0-9a-f]{64}", " " + "0" * 64, text, flags=re.MULTILINE))


@pytest.fixture
def make_archive(tmp_path: Path) -> Callable[[], LocalArchive]:
    """Make an empty Debian archive, to be published, with the apt configuration that leads to it."""
    return lambda: LocalArchive(tmp_path)
