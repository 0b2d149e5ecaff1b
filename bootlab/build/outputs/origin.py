"""Which build a system's files came from: the output folder that a kernel, a root or a source of it lies in."""

from collections.abc import Iterator
from pathlib import Path

from bootlab.build.outputs.buildroot import find_images, read_buildroot
from bootlab.build.outputs.output import BuildOutput
from bootlab.build.outputs.yocto import find_confs, read_conf
from bootlab.errors import InputError
from bootlab.system import System


def find_origin(system: System) -> BuildOutput | None:
    """Return the output of Buildroot or Yocto that a file of a system lies in; None where none does.

    A folder that cannot be read any more counts as none: only what its configuration says is lost by that.
    """
    for path in _files(system):
        for folder in (path.parent, path.parent.parent, path.parent.parent.parent):
            try:
                if find_images(folder) is not None:
                    return read_buildroot(folder)
                confs = [one for one in find_confs(folder) if one.parent == path.parent]
                if confs:
                    return read_conf(confs[0])
            except (InputError, OSError):
                continue
    return None


def _files(system: System) -> Iterator[Path]:
    build = system.kernel.build
    parts = (system.initramfs, system.rootfs, system.image, system.card)
    named = [system.kernel.image, build.config if build is not None else None, *(one.path for one in parts if one)]
    yield from (path.absolute() for path in named if path is not None)
