"""A kernel that is not built: its image by path, or out of a Debian package."""

from collections.abc import Callable
from pathlib import Path

from bootlab.errors import InputError
from bootlab.system import Kernel


def kernel_files(kernel: Kernel, fetch: Callable[[str, str | None], Path]) -> tuple[Path, Path | None]:
    """Return the image that `kernel` names, and the tree of its package with its modules; None for one by path.

    `fetch`: a package's name and suite -> its tree. Raises InputError for a package without one kernel.
    """
    if kernel.image is not None:
        return kernel.image, None
    assert kernel.package is not None  # the system's own check: one of the two
    tree = fetch(kernel.package, kernel.suite)
    images = sorted(tree.glob("boot/vmlinu[xz]-*"))
    if len(images) != 1:
        raise InputError(
            f'kernel.package: "{kernel.package}" holds {len(images)} kernel images, expected one',
            hint="name a kernel package, for example linux-image-cloud-amd64",
        )
    return images[0], tree
