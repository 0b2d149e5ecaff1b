"""`bootlab apply RUN --to DIR`: a winning stack, or a fitted kernel, as files for where the system is really built."""

import re
import shutil
from pathlib import Path
from typing import Annotated

import typer

from bootlab.build.deployment.applied_files import carried
from bootlab.build.deployment.carried import Builder, Carried
from bootlab.build.deployment.installing import install_script, make_debian_package
from bootlab.build.image.whole_copy import write_whole_copy
from bootlab.build.outputs.origin import find_origin
from bootlab.cli.options.arguments import Json, Runs, open_shop, open_store
from bootlab.cli.terminal.files import expect_file, expect_folder
from bootlab.cli.terminal.showing import answer
from bootlab.cli.terminal.speech import err
from bootlab.errors import InputError, MissingTool, StoreError
from bootlab.experiments.kept_systems import TAILORED, read_systems
from bootlab.experiments.read_result import read_result
from bootlab.experiments.store import Run, RunKind
from bootlab.experiments.tailor.result import TailorResult
from bootlab.experiments.trial.chosen_stack import choose_stack
from bootlab.experiments.trial.result import StackName, TryResult
from bootlab.measure.record_files import read_record
from bootlab.report.applied import ApplyDocument, Found, Written, apply_document, apply_view
from bootlab.report.tailor.applied import found_kernel, kernel_account
from bootlab.report.trial.applied import found_stack, stack_account
from bootlab.system import System
from bootlab.system.disk_image import written_mode
from bootlab.system.text import system_text

_ACCOUNT, _SYSTEM, _SCRIPT, _IMAGE = "CHANGES.md", "system.toml", "apply.sh", "image.toml"


def apply(
    run: Annotated[
        str, typer.Argument(metavar="[RUN]", help="A trial or a tailoring: its path, directory name, number, or last.")
    ] = "last",
    to: Annotated[
        Path | None, typer.Option("--to", "-o", metavar="DIR", help="A new folder for the files. [required]")
    ] = None,
    stack: Annotated[
        str | None,
        typer.Option(
            "--stack",
            metavar="NAME",
            help="recommended, with-risks, or a plan's ladder. [default: recommended, or the ladder]",
            autocompletion=lambda: [one.value.replace(" ", "-") for one in StackName],
        ),
    ] = None,
    builder: Annotated[
        list[Builder] | None,
        typer.Option(
            "--for",
            help="Whose forms: debian (GRUB, mkosi, initramfs-tools, dracut, a package), buildroot, yocto. Repeatable. "
            "[default: whose output folder the system's files are in, else debian]",
        ),
    ] = None,
    image: Annotated[
        Path | None,
        typer.Option(
            "--image",
            metavar="FILE",
            help="Of a system that boots from a disk image: a new one with the stack laid in, raw (.img, .raw) or "
            "qcow2; image.toml beside the files boots it.",
        ),
    ] = None,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Write what a trial's stack changed as files for GRUB, mkosi, initramfs-tools, dracut, kconfig and U-Boot.

    Of a tailoring they are the options that its kernel lost, as a fragment.

    A Debian package and a script put them in their places; CHANGES.md says what each step saved, what each file is for,
    and what no file carries: the machine's settings, say. system.toml boots the whole of it again. For Buildroot they
    are an external tree, for Yocto a layer (docs/applying.md).
    """
    if to is None:
        raise InputError("--to DIR is missing: where to write the files", hint="bootlab apply last --to changes")
    found = open_store(runs).find(run)
    if found.kind not in (RunKind.TRY, RunKind.TAILOR):
        raise InputError(f"{found.path}: a {found.kind}, neither a try nor a tailor: only these end in changes")
    if to.is_dir() and any(to.iterdir()):
        raise InputError(f"--to {to}: holds files already", hint="name a new folder, or empty that one")
    expect_folder("--to", to, [("the run", found.path)], what="change")
    result = _Tailoring(found, stack) if found.kind is RunKind.TAILOR else _Trial(found, stack)
    before, after = result.systems
    if image is not None:
        _expect_new_image(image, after)
    origin = find_origin(before)
    # Of tools that have no forms of their own here, an image for one, a distribution's are the nearest.
    found_for = next((one for one in Builder if origin is not None and one.value == origin.tool.value), Builder.DEBIAN)
    wanted = frozenset(builder or [found_for])
    made = carried(before, after, wanted, origin.settings if origin is not None else None)
    try:
        to.mkdir(parents=True, exist_ok=True)
        _write(made, to)
        (to / _SYSTEM).write_text(system_text(after), encoding="utf-8")
        if image is not None:
            whole = write_whole_copy(open_shop(silent=json), after, image)
            (to / _IMAGE).write_text(system_text(whole), encoding="utf-8")
        package = _package(made, f"bootlab-changes-{_package_name(result.found.system)}", to)
        document = apply_document(result.found, made, Written(to, package, image))
        (to / _ACCOUNT).write_text(result.account(document), encoding="utf-8")
    except OSError as error:
        raise StoreError(f"--to: {error.filename or to}: {error.strerror or error}") from error
    return answer(apply_view(document), json=json)


class _Trial:
    """What a trial's stack came to."""

    def __init__(self, run: Run, stack: str | None) -> None:
        self._result = read_result(run, TryResult)
        self._stack = choose_stack(self._result, stack)
        self.found: Found = found_stack(self._result, self._stack)
        before, after = read_systems(run, self._stack)
        # With the seed of the boot that is the stack's figure, it boots to that very figure.
        self.systems = before, after.with_seed(read_record(Path(self._result.final[self._stack].run)).seed)

    def account(self, document: ApplyDocument) -> str:
        return stack_account(self._result, self._stack, document)


class _Tailoring:
    """What a tailoring came to."""

    def __init__(self, run: Run, stack: str | None) -> None:
        if stack is not None:
            raise InputError(f"--stack {stack}: {run.path} is a tailoring, which has no stacks", hint="leave it out")
        self._result = read_result(run, TailorResult)
        self.found: Found = found_kernel(self._result)
        self.systems = read_systems(run, TAILORED)

    def account(self, document: ApplyDocument) -> str:
        return kernel_account(self._result, document)


def _expect_new_image(image: Path, after: System) -> None:
    if after.image is None:
        raise InputError(f"--image: {after.name} boots from no disk image: there is none to lay its changes into")
    if image.exists():
        raise InputError(f"--image {image}: is there already", hint="name a new file, or remove that one")
    expect_file("--image", image, [("the image", after.image.path)], example="changed.qcow2")


def _write(made: Carried, to: Path) -> None:
    for path, text in made.files.items():
        place = to / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        place.chmod(0o755 if path.suffix == ".sh" else written_mode(text.encode()))
    for path, source in made.copies.items():
        (to / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, to / path)
    if made.in_root:
        (to / _SCRIPT).write_text(install_script(made), encoding="utf-8")


def _package(made: Carried, name: str, to: Path) -> Path | None:
    if not made.in_root:
        return None
    try:
        return make_debian_package(made, name, "1.0", to)
    except MissingTool as error:
        err.print(f"bootlab: warning: no Debian package: {error.message}", soft_wrap=True)
        return None


def _package_name(system: str) -> str:
    # What Debian allows in a package's name.
    return re.sub(r"[^a-z0-9.+-]+", "-", system.lower()).strip("-.+")
