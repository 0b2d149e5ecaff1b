"""A stack of a trial as files for where the system is really built: the account beside them, JSON and words."""

from pathlib import Path
from typing import Final, Literal

from pydantic import Field
from rich.text import Text

from bootlab.build.deployment.carried import Carried
from bootlab.document import Document
from bootlab.experiments.trial.result import StackName, TryResult
from bootlab.report.parts.figures import ms, ratio_words
from bootlab.report.parts.markdown import code, markdown_table, plain, prose
from bootlab.report.parts.view import View
from bootlab.report.trial.markdown import measured_on
from bootlab.report.trial.words import kept_steps, time_words

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


class CarriedFile(Document):
    """A file that a stack of techniques became."""

    path: str
    """Below the folder."""
    use: str
    """Who reads it, or what is done with it."""


class ApplyDocument(Document):
    """What a stack of techniques became."""

    schema_: Literal["bootlab.apply/1"] = Field(default=SCHEMA, alias="schema")
    run: str
    system: str
    stack: StackName
    techniques: list[str]
    before_ns: int
    """The baseline's time to ready, load times included."""
    after_ns: int
    """The stack's."""
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


def apply_document(
    result: TryResult, stack: StackName, made: Carried, folder: Path, package: Path | None
) -> ApplyDocument:
    """Return the account of what was written to `folder`."""
    finished = result.final[stack]
    return ApplyDocument(
        run=result.run,
        system=result.system,
        stack=stack,
        techniques=finished.techniques,
        before_ns=result.baseline.total_ns,
        after_ns=finished.total_ns,
        folder=str(folder),
        files=[CarriedFile(path=str(path), use=use) for path, use in sorted(made.uses.items())],
        words=made.words,
        lost_words=made.lost_words,
        by_hand=made.by_hand,
        package=None if package is None else str(package),
    )


def apply_view(document: ApplyDocument) -> View:
    """Return what a terminal is told."""
    lines: list[Text | str] = [f"{document.system}: {document.stack} stack of {len(document.techniques)} techniques"]
    lines += [f"  {one.path}: {one.use}" for one in document.files]
    if document.by_hand:
        lines.append("by hand, in no file:")
        lines += [f"  {key}: {what}" for key, what in document.by_hand.items()]
    lines += [f"written: {document.folder}", f"bootlab boot {document.folder}/system.toml boots all of it"]
    return View(document, tuple(lines))


def account(result: TryResult, document: ApplyDocument) -> str:
    """Return the Markdown page that lies beside the files: what each step saved, what each file is, what is by hand."""
    steps = [step for name in (StackName.RECOMMENDED, document.stack) for step in kept_steps(result, name)]
    unique = {step.technique: step for step in steps if step.technique in document.techniques}
    rows = [["baseline", "", ms(result.baseline.total_ns), ""]]
    rows += [[code(one.technique), ms(one.saved_ns), ms(one.total_ns), plain(one.risk)] for one in unique.values()]
    ratio = result.final[document.stack].ratio
    parts = [
        f"# {plain(result.system)}: the {document.stack} stack as files",
        markdown_table(["step", "saved ms>", f"{time_words(result)} ms>", "risk"], rows),
        f"{ratio:.2f}x {ratio_words(result.clock)}.",
        measured_on(result),
    ]
    parts += ["## Files", markdown_table(["file", "for"], [[code(one.path), plain(one.use)] for one in document.files])]
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
    parts += [
        prose(
            "`system.toml` is all of it as a system of bootlab's: `bootlab boot system.toml` gives the figure above "
            "again."
        )
    ]
    if document.by_hand:
        parts += [
            "## By hand",
            markdown_table(["key", "what"], [[code(a), plain(b)] for a, b in document.by_hand.items()]),
        ]
    return "\n\n".join(parts) + "\n"
