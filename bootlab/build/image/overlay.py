"""What is other in a changed copy of an image, as a qcow2 file over that image.

`qemu-img convert -B` copies all that a raw file holds, and not only what differs: an overlay as large as the image.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bootlab.build.image.image_file import QCOW2, RAW, ImageFile
from bootlab.errors import BootlabError
from bootlab.process import run

_CLUSTER: Final = 64 * 1024
"""QEMU's own default."""
_READ: Final = 64 * _CLUSTER
"""As much is compared at once, and written by one request at most."""
_DEADLINE_S: Final = 1800.0


def write_overlay(copy: Path, image: ImageFile, out: Path, scratch: Path) -> None:
    """Write to `out` what is other in `copy`, a raw file, than in `image`; in `scratch` there is room for both.

    Raises MissingTool (qemu-utils), ProgramFailed, BootlabError where the overlay does not read as the copy does.
    """
    base = image.path.resolve()
    raw = base
    if image.format != RAW:
        raw = scratch / "base"
        run(
            ["qemu-img", "convert", "-f", image.format, "-O", RAW, base, raw],
            deadline_s=_DEADLINE_S,
            package="qemu-utils",
        )
    argv: list[str | Path] = ["qemu-img", "create", "-q", "-f", QCOW2, "-b", base, "-F", image.format, out]
    run([*argv, str(copy.stat().st_size)], deadline_s=_DEADLINE_S, package="qemu-utils")
    requests = []
    for number, (at, data) in enumerate(_differences(copy, raw)):
        # By their names alone: blanks part the words of a request, and there is no way to quote one.
        name = f"part-{number}"
        (scratch / name).write_bytes(data)
        requests.append(f"write -q -s {name} {at} {len(data)}\n")
    told = "".join(requests).encode()
    run(["qemu-io", "-f", QCOW2, out.resolve()], input=told, cwd=scratch, deadline_s=_DEADLINE_S, package="qemu-utils")
    same = ["qemu-img", "compare", "-q", "-f", RAW, "-F", QCOW2]
    try:
        run([*same, copy, out], deadline_s=_DEADLINE_S, package="qemu-utils")
    except BootlabError as error:
        raise BootlabError(f"{out}: what qemu-io wrote is not what was changed: {error.message}") from error


def _differences(copy: Path, base: Path) -> Iterator[tuple[int, bytes]]:
    """Return the clusters that differ, neighbours together: offset and what is there in the copy."""
    with copy.open("rb") as new_file, base.open("rb") as old_file:
        at = 0
        while new := new_file.read(_READ):
            old = old_file.read(len(new))
            if new != old:
                yield from _in_chunk(at, new, old)
            at += len(new)


def _in_chunk(at: int, new: bytes, old: bytes) -> Iterator[tuple[int, bytes]]:
    begin = None
    for place in range(0, len(new) + _CLUSTER, _CLUSTER):
        differs = place < len(new) and new[place : place + _CLUSTER] != old[place : place + _CLUSTER]
        if differs and begin is None:
            begin = place
        elif not differs and begin is not None:
            yield at + begin, new[begin:place]
            begin = None
