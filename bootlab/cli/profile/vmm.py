"""`bootlab profile` of a guest of KVM: where its VMM's own time goes, each request to KVM timed from outside."""

from pathlib import Path

from bootlab.cli.options.arguments import naming, open_shop
from bootlab.cli.terminal.showing import show
from bootlab.cli.terminal.speech import teller
from bootlab.experiments.importing import import_document
from bootlab.experiments.store import RunKind, Store
from bootlab.experiments.vmm_profile import profile_vmm
from bootlab.measure.record_files import write_json
from bootlab.report.recording.view import import_view
from bootlab.system import System


def profile_vmm_of(system: System, pairs: int, store: Store, file: Path, *, json: bool) -> int:
    """Profile the VMM of a system into a run of its own, and show it. Raises as `profile_vmm` does."""
    run = store.start(RunKind.IMPORT, system.name, {"system": str(file), "pairs": pairs})
    with run.locked():
        with naming(file):
            result = profile_vmm(system, pairs, run, open_shop(silent=json), teller(silent=json))
        write_json(run.result, import_document(result, str(run.path)))
        return show(run, import_view(run, result), json=json)
