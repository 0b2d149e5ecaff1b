"""What audits found, as runs have it on record."""

from bootlab.errors import InputError, StoreError
from bootlab.experiments.store import Run, Store
from bootlab.findings.audit.finding import Audit
from bootlab.kept_file import UNREADABLE, read_kept_json, why_damaged


def read_audit(run: Run) -> Audit:
    """Return what the audit of a run found. Raises InputError for a run that was not audited, StoreError for damage."""
    try:
        return Audit.model_validate_json(read_kept_json(run.audit))
    except FileNotFoundError as error:
        raise InputError(
            f"{run.path} was not audited", hint=f"bootlab audit {run.path}, or bootlab audit SYSTEM"
        ) from error
    except UNREADABLE as error:
        raise StoreError(
            f"{run.audit}: damaged: {why_damaged(error)}", hint=f"bootlab audit {run.path} writes it anew"
        ) from error


def audited_facts(store: Store, name: str) -> dict[str, str]:
    """Return what the audit of the run that --audit names gives techniques. Raises what `read_audit` raises."""
    run = store.find(name)
    try:
        return dict(read_audit(run).facts)
    except InputError as error:
        raise InputError(f"--audit {name}: {error.message}", hint=error.hint) from error
