"""What was found in an image, kept in the cache under the image's content: each is looked through once."""

import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from bootlab.build.image.contents import ImageContents
from bootlab.build.image.image_file import ImageFile, content_hash
from bootlab.build.image.survey import survey_image
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError

FORMAT = 6
"""Of what is kept of an image; a new number makes each be read again."""
_CONTENTS = "contents.json"


@dataclass(frozen=True, slots=True)
class ReadImage:
    """An image that was read: `folder` holds the files that its contents name.

    `boot_entry`: what its firmware is to have as a boot entry, in the place of the loader on it.
    """

    image: ImageFile
    contents: ImageContents
    folder: Path
    sha256: str
    boot_entry: bytes | None = None

    def file(self, name: str) -> Path:
        """Return the path of a file that the contents name."""
        return self.folder / name


def read_image(shop: Workshop, image: ImageFile) -> ReadImage:
    """Return what an image holds. Raises InputError for one that cannot boot, MissingTool (grub-common, qemu-utils)."""
    digest = content_hash(image)

    def read(out: Path) -> None:
        shop.tell(f"reading {image.path.name}")
        keep_contents(image, out)

    folder = shop.cache.make("image-contents", f"{FORMAT} {image.format} {digest}", read)
    return ReadImage(image, load_contents(image, folder), folder, digest)


def keep_contents(image: ImageFile, out: Path) -> None:
    """Make the folder `out`, with what an image holds. Raises InputError as `read_image`."""
    out.mkdir()
    contents = survey_image(image, out)
    (out / _CONTENTS).write_text(contents.model_dump_json(indent=1) + "\n", encoding="utf-8")


def load_contents(image: ImageFile, folder: Path) -> ImageContents:
    """Return what was kept of an image in a folder. Raises InputError for one that is damaged."""
    try:
        document = json.loads((folder / _CONTENTS).read_text(encoding="utf-8"))
        return ImageContents.model_validate(document, strict=False)
    except (OSError, ValueError, ValidationError) as error:
        raise InputError(f"{image.path}: what the cache knows of it is damaged", hint=f"remove {folder}") from error
