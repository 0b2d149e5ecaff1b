"""mkosi's and debos's output folders, and any other that holds one disk image: that image is the system.

mkosi leaves IMAGE.manifest beside IMAGE.raw, and may leave its kernel and initrd apart; debos leaves an image alone.
"""

import json
from pathlib import Path
from typing import Final

from bootlab.build.image.image_file import looks_like_image
from bootlab.build.outputs.assignments import read_small
from bootlab.build.outputs.output import BuildOutput, BuildTool
from bootlab.build.outputs.qemu_words import QemuCommand
from bootlab.errors import InputError

_IMAGES: Final = (".raw", ".img", ".qcow2", ".wic", ".efi")
_MANIFEST: Final = ".manifest"


def find_disks(folder: Path) -> list[Path]:
    """Return the disk images in a folder: whole disks where there are any, else UKIs. A link counts with its file."""
    found = {path.resolve(): path for path in sorted(folder.iterdir()) if path.suffix in _IMAGES and path.is_file()}
    images = [path for path in found.values() if looks_like_image(path)]
    return [path for path in images if path.suffix != ".efi"] or images


def is_mkosi(folder: Path) -> bool:
    """Return whether a folder has a manifest of mkosi's."""
    return any(_manifest(path) is not None for path in sorted(folder.glob(f"*{_MANIFEST}")))


def read_disk_folder(folder: Path) -> BuildOutput:
    """Return the one disk image of a folder. Raises InputError where there is none, or several."""
    disks = find_disks(folder)
    if len(disks) != 1:
        listed = "".join(f"\n  {path}" for path in disks[:20])
        what = f"{len(disks)} disk images:{listed}" if disks else f"no disk image in it: {', '.join(_IMAGES)}"
        raise InputError(f"{folder}: {what}", hint="name one: every verb takes a disk image (docs/images.md)")
    image = disks[0]
    manifests = [_manifest(path) for path in sorted(folder.glob(f"*{_MANIFEST}"))]
    manifest = next((one for one in manifests if one is not None), None)
    found = BuildOutput(
        tool=BuildTool.DEBOS if manifest is None else BuildTool.MKOSI,
        folder=folder,
        about="a folder with one disk image" if manifest is None else _words(manifest),
        name=image.stem,
        guest=QemuCommand("x86_64"),
        image=image,
    )
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.resolve() != image.resolve():
            found.also.setdefault(path.name, "not booted: the disk image is")
    return found


def _manifest(path: Path) -> dict[str, object] | None:
    try:
        read = json.loads(read_small(path))
    except (InputError, ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) and "manifest_version" in read else None


def _words(manifest: dict[str, object]) -> str:
    config = manifest.get("config")
    said = config if isinstance(config, dict) else {}
    return " ".join(["mkosi:", *(str(said[key]) for key in ("name", "distribution", "release") if said.get(key))])
