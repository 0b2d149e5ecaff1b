"""`bootlab profile` of a real machine: boots it, asks its shell, and shows what its own kernel and tools told."""

from pathlib import Path

from bootlab.cli.options.arguments import naming, open_shop
from bootlab.cli.terminal.showing import show
from bootlab.cli.terminal.speech import err
from bootlab.errors import InputError
from bootlab.experiments.importing import import_document
from bootlab.experiments.real_profile import RealProfile, profile_real_machine
from bootlab.experiments.store import RunKind, Store
from bootlab.measure.record_files import write_json
from bootlab.report.recording.view import import_view


def profile_real(asked: RealProfile, store: Store, file: Path, *, json: bool) -> int:
    """Profile a board or a host into a run of its own, and show it. Raises as `profile_real_machine` does."""
    with naming(file):
        access = asked.access
    words = access.words if asked.is_told else None
    shop = open_shop(silent=json)
    run = store.start(RunKind.IMPORT, asked.system.name, {"system": str(file), "pairs": asked.pairs, "words": words})

    def tell(what: str) -> None:
        if not json:
            err.print(f"  {what}", soft_wrap=True)

    with run.locked():
        with naming(file):
            result = profile_real_machine(asked, run, shop, tell)
        write_json(run.result, import_document(result, str(run.path)))
        return show(run, import_view(run, result), json=json)


def refuse_counting(options: dict[str, object]) -> None:
    """Raise InputError for an option of a profile that counts instructions."""
    if given := [name for name, value in options.items() if value]:
        raise InputError(
            f"{given[0]}: is of a profile that counts instructions, and those of this machine cannot be seen",
            hint="--pairs says how often it is booted",
        )
