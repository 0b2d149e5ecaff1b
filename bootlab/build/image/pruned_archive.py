"""The initramfs on an image with fewer modules, compressed as it was: as its own maker makes one for one machine."""

from collections.abc import Collection
from dataclasses import replace

from bootlab.build.formats import cpio
from bootlab.build.formats.compress import compress, compression_of
from bootlab.build.root import archive_check
from bootlab.build.root.installed_initramfs import with_modules_kept
from bootlab.errors import InputError
from bootlab.system import Compression

_KEY = "image.keep_modules"
_EARLY = ("kernel/x86/microcode", "kernel/firmware/acpi")
"""What the kernel reads before it can unpack anything."""


def prune_archive(data: bytes, keep: Collection[str]) -> bytes:
    """Return an initramfs without the modules that are neither in `keep` nor needed by one of these.

    Several archives behind each other become one. Raises InputError for one of an unknown form or that holds what the
    kernel reads early, and for modules of `keep` that it does not have.
    """
    entries = archive_check.entries(data)
    if entries is None:
        raise InputError(f"{_KEY}: the initramfs on the image has a form that bootlab does not know")
    named = [entry for entry in entries if entry.path.strip("./")]
    if early := next((entry.path for entry in named if entry.path.startswith(_EARLY)), None):
        raise InputError(
            f"{_KEY}: the initramfs on the image holds {early}, which has to lie in front of it",
            hint="make it anew in the running system: MODULES=dep in /etc/initramfs-tools/initramfs.conf",
        )
    try:
        kept = with_modules_kept(named, keep, ())
    except InputError as error:
        raise InputError(error.message.replace("initramfs.keep_modules", _KEY, 1), hint=error.hint) from error
    # Later files lie over earlier ones.
    tree = {entry.path.removeprefix("./").strip("/"): entry for entry in kept}
    return compress(cpio.write(replace(entry, path=path) for path, entry in tree.items()), _compression(data))


def _compression(data: bytes) -> Compression:
    offset = 0
    while data.startswith(cpio.MAGICS, offset):
        offset = cpio.read(data, offset)[1]
        offset = len(data) - len(data[offset:].lstrip(b"\0"))
    return compression_of(data[offset:]) or Compression.NONE
