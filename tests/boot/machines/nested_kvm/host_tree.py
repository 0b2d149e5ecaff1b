"""The disk of an emulated machine with SVM, made of this host's own programs: QEMU, Python, libraries, bootlab.

Nothing is fetched: what runs in the machine is what runs here, under its own path.
"""

import compileall
import importlib.metadata
import re
import shutil
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

from bootlab.process import require_program, run

ROOT = Path(__file__).parents[4]
FILES = Path(__file__).parent
# What bootlab needs and a boot does not: a compiler for guest programs, and what only tests import.
LEFT_OUT = {"ziglang", "scipy"}
NO_STDLIB = {"test", "tests", "idlelib", "ensurepip", "tkinter", "lib2to3", "site-packages", "dist-packages"}
FIRMWARE = ("bios-256k.bin", "bios-microvm.bin", "qboot.rom", "kvmvapic.bin", "linuxboot_dma.bin", "pvh.bin")


class HostTree:
    """A folder that becomes the machine's disk: programs of this host with their libraries, under their own paths."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("proc", "sys", "dev", "tmp", "run", "var/tmp", "root"):
            self.at(name).mkdir(parents=True, exist_ok=True)

    def at(self, path: str | Path) -> Path:
        """Return where `path` of the machine lies on this host."""
        return self.root / str(path).lstrip("/")

    def put(self, source: Path, path: str | Path) -> None:
        """Copy a file to `path`; with its time, by which Python knows whether its compiled form is still good."""
        place = self.at(path)
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, place)

    def add_binaries(self, binaries: Sequence[Path]) -> None:
        """Copy programs and libraries to where they are here, with all they are linked to."""
        for path in binaries:
            self.put(path, path)
        linked = run(["ldd", *binaries], deadline_s=60).text
        for library in sorted(set(re.findall(r"(/\S+) \(0x", linked))):
            self.put(Path(library), library)

    def add_qemu(self) -> None:
        """Copy QEMU, what starts it, and the firmware of its x86 machines."""
        programs = [Path(require_program(name)) for name in ("qemu-system-x86_64", "setpriv")]
        self.add_binaries(programs)
        for folder in run([programs[0], "-L", "help"]).text.splitlines():
            for path in (Path(folder, name) for name in FIRMWARE):
                if path.is_file():
                    self.put(path, path)

    def add_python(self) -> None:
        """Copy this interpreter as /python, its library, and the packages that bootlab needs."""
        program = Path(sys.executable).resolve()
        library = Path(sysconfig.get_paths()["stdlib"])
        files = [path for path in library.rglob("*") if not NO_STDLIB & set(path.relative_to(library).parts)]
        files = [path for path in files if path.suffix in (".py", ".pyc", ".so") and ".opt-" not in path.name]
        for path in files:
            self.put(path, path)
        self.at("/python").symlink_to(program)
        extensions = [path for path in files if path.suffix == ".so"]
        for distribution in needed_distributions():
            for name in distribution.files or ():
                path = Path(str(distribution.locate_file(name)))
                if path.is_file() and ".." not in name.parts and "tests" not in name.parts:
                    self.put(path, Path("/site-packages", name))
                    extensions += [path] if path.suffix == ".so" else []
        self.add_binaries([program, *(path for path in extensions if path.is_relative_to(library))])
        linked = run(["ldd", *extensions], deadline_s=60).text
        for found in sorted(set(re.findall(r"(/\S+) \(0x", linked))):
            if "site-packages" not in found:
                self.put(Path(found), found)

    def add_bootlab(self) -> None:
        """Copy the checkout's host package and guest programs, and what runs them in the machine."""
        for name in ("bootlab", "guest"):
            shutil.copytree(ROOT / name, self.at("/checkout") / name)
        compileall.compile_dir(self.at("/checkout/bootlab"), quiet=2)
        self.put(FILES / "inside.py", "/inside.py")
        for path in ("/etc/os-release", "/etc/ld.so.cache"):
            self.put(Path(path), path)

    def to_disk(self, image: Path, mib: int) -> None:
        """Write the tree as an ext4 image of `mib` MiB."""
        with image.open("wb") as file:
            file.truncate(mib << 20)
        words: list[str | Path] = ["-F", "-q", "-t", "ext4", "-O", "^has_journal", "-m", "0", "-d", self.root, image]
        run(["mke2fs", *words], deadline_s=300, package="e2fsprogs")


def needed_distributions() -> Iterator[importlib.metadata.Distribution]:
    """Yield the packages that bootlab requires, and those that they require."""
    waiting, seen = ["bootlab"], set(LEFT_OUT)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        try:
            found = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # required on other systems only
        waiting += [
            re.split(r"[^A-Za-z0-9._-]", wanted)[0] for wanted in found.requires or () if "extra ==" not in wanted
        ]
        if name != "bootlab":
            yield found
