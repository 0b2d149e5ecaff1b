"""A disk image with changes laid in, as one file of its own: what `bootlab apply --image` gives away."""

from pathlib import Path

from bootlab.build.boot_files import prepare
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.process import run
from bootlab.system import Attachment, DiskImage, System

_DEADLINE_S = 1800.0


def write_whole_copy(shop: Workshop, system: System, out: Path) -> System:
    """Write the image of `system`, changed as it asks, to `out`, and return the system that boots that as it is.

    raw where the name ends in .img or .raw, else qcow2. The user's image is only read. Raises InputError for a system
    without an image, MissingTool (qemu-utils), OSError.
    """
    if system.image is None:
        raise InputError(f"--image: {system.name} boots from no disk image: there is none to lay its changes into")
    files = prepare(shop, system)
    if files.image is None or files.image_format == "efi" or system.image.attach is Attachment.CD:
        raise InputError("--image: nothing is laid into a unified kernel image, nor into an ISO")
    shop.tell(f"writing {out}")
    form = "raw" if out.suffix.lower() in (".img", ".raw") else "qcow2"
    # Complete or not there: a half image would boot somewhere.
    new = out.absolute().with_name(f".{out.name}.new")
    argv: list[str | Path] = ["qemu-img", "convert", "-f", files.image_format, "-O", form, files.image, new]
    try:
        run(argv, deadline_s=_DEADLINE_S, package="qemu-utils")
        new.rename(out)
    finally:
        new.unlink(missing_ok=True)
    # What was asked for is on it now.
    direct = system.image.loader == "direct"
    told = {"menu_s": None, "loader": "direct" if direct else None}
    image: DiskImage = system.image.model_copy(update={"path": out.absolute(), **told})
    kernel = system.kernel if direct else system.kernel.model_copy(update={"cmdline": ""})
    return system.model_copy(update={"image": image, "kernel": kernel})
