"""What a run found as files for where the system is really built: JSON, words, and what the accounts have in common."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pydantic import Field
from rich.text import Text

from bootlab.build.deployment.carried import Carried
from bootlab.document import Document
from bootlab.experiments.kept_systems import TAILORED
from bootlab.experiments.trial.result import StackName
from bootlab.report.parts.markdown import code, markdown_table, plain, prose
from bootlab.report.parts.view import View

SCHEMA: Final = "bootlab.apply/1"


# What a builder's files need to be heeded.
_STEPS: Final = {
    "buildroot/bootlab.config": (
        "Buildroot: the folder buildroot/ is an external tree. `BUILDROOT/support/kconfig/merge_config.sh -m -O OUTPUT "
        "OUTPUT/.config buildroot/bootlab.config`, then `make -C BUILDROOT O=OUTPUT BR2_EXTERNAL=$PWD/buildroot "
        "olddefconfig` and `make -C BUILDROOT O=OUTPUT linux-reconfigure all`."
    ),
    "yocto/meta-bootlab/conf/layer.conf": (
        "Yocto: `bitbake-layers add-layer yocto/meta-bootlab`, and `require conf/bootlab.conf` in conf/local.conf "
        "where there is such a file."
    ),
}


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: the folder, a Debian package, a disk image with the stack laid in; None for those not made."""

    folder: Path
    package: Path | None = None
    image: Path | None = None


class CarriedFile(Document):
    """A file that a stack of techniques became."""

    path: str
    """Below the folder."""
    use: str
    """Who reads it, or what is done with it."""


class Found(Document):
    """What a run found, and a document of bootlab apply begins with."""

    schema_: Literal["bootlab.apply/1"] = Field(default=SCHEMA, alias="schema")
    run: str
    system: str
    stack: StackName | Literal["tailored"]
    """`tailored`: the kernel that `bootlab tailor` fitted."""
    techniques: list[str]
    """Empty of a fitted kernel."""
    before_ns: int
    """The baseline's time to ready, load times included."""
    after_ns: int
    """What it became."""


class ApplyDocument(Found):
    """What a stack of techniques, or a fitted kernel, became."""

    folder: str
    files: list[CarriedFile]
    words: list[str]
    """Added to the kernel's command line."""
    lost_words: list[str]
    """Taken out of it."""
    by_hand: dict[str, str]
    """Key of the system file -> what no file carries, and what to do."""
    package: str | None
    """The Debian package; None where no file has its place in a root, or dpkg-deb is missing."""
    image: str | None = Field(default=None, exclude_if=lambda value: value is None)
    """The disk image with all of it laid in; left out where none was asked for."""


def apply_document(found: Found, made: Carried, written: Written) -> ApplyDocument:
    """Return the account of what was written."""
    return ApplyDocument(
        **dict(found),
        folder=str(written.folder),
        files=[CarriedFile(path=str(path), use=use) for path, use in sorted(made.uses.items())],
        words=made.words,
        lost_words=made.lost_words,
        by_hand=made.by_hand,
        package=None if written.package is None else str(written.package),
        image=None if written.image is None else str(written.image),
    )


def apply_view(document: ApplyDocument) -> View:
    """Return what a terminal is told."""
    what = f"{document.stack} stack of {len(document.techniques)} techniques"
    if document.stack == TAILORED:
        what = "the kernel that bootlab tailor fitted to its check"
    lines: list[Text | str] = [f"{document.system}: {what}"]
    lines += [f"  {one.path}: {one.use}" for one in document.files]
    if document.by_hand:
        lines.append("by hand, in no file:")
        lines += [f"  {key}: {what}" for key, what in document.by_hand.items()]
    lines += [f"written: {document.folder}", f"bootlab boot {document.folder}/system.toml boots all of it"]
    if document.image is not None:
        lines.append(f"{document.image}: the image with the stack laid in; {document.folder}/image.toml boots it")
    return View(document, tuple(lines))


def files_sections(document: ApplyDocument, *, boots: str) -> list[str]:
    """Return what an account says of the files, in Markdown: what each is for, how they are heeded, what is by hand.

    `boots`: what a boot of system.toml gives.
    """
    rows = [[code(one.path), plain(one.use)] for one in document.files]
    parts = ["## Files", markdown_table(["file", "for"], rows)]
    if any(one.path.startswith("root/") for one in document.files):
        parts += [
            prose(
                "`sh apply.sh ROOT` puts what is below root/ into a system's root; the Debian package does so where it "
                "is installed."
            )
        ]
    for file, what_to_do in _STEPS.items():
        if any(one.path == file for one in document.files):
            parts += [prose(what_to_do)]
    parts += [prose(f"`system.toml` is all of it as a system of bootlab's: `bootlab boot system.toml` {boots}.")]
    if document.by_hand:
        parts += [
            "## By hand",
            markdown_table(["key", "what"], [[code(a), plain(b)] for a, b in document.by_hand.items()]),
        ]
    return parts
