"""What is said of packages and their costs, on a terminal and in Markdown alike: rows, sums and the proof in words."""

from collections.abc import Sequence

from bootlab.experiments.packages.result import PackagesProof, PackagesResult
from bootlab.findings.packages.owner import OwnerKind
from bootlab.findings.packages.package_costs import PackageCost
from bootlab.report.parts.figures import clock_sentence, count, ms, percent

LEAST_SHARE = 0.0005
"""A row of less than this share of the boot is summed up with its like."""
_NAMES = 3


def name_of(row: PackageCost) -> str:
    """Return what a row is called."""
    if row.kind is OwnerKind.PACKAGE:
        return row.name
    if row.kind is OwnerKind.STAGE:
        return f"{row.kind.value}: {row.name}"
    return f"{row.kind.value}: {row.name}" if row.name else row.kind.value


def what_of(row: PackageCost) -> str:
    """Return what a row's time is made of, the most telling first."""
    parts = []
    if row.units:
        parts.append(f"{_counted(len(row.units), 'unit')} ({some(row.units)})")
    if row.processes:
        parts.append(_counted(row.processes, "process"))
    if row.modules:
        parts.append(f"{_counted(len(row.modules), 'module')}, {ms(row.modules_ns)} ms to load")
    if row.initramfs_files:
        parts.append(f"{_counted(row.initramfs_files, 'file')} of the initramfs, {ms(row.unpacking_ns)} ms to unpack")
    if row.files_read:
        parts.append(f"{_counted(row.files_read, 'file')} read, {count(row.read_bytes)} bytes")
    return "; ".join(parts)


def split_rows(rows: Sequence[PackageCost], total_ns: int) -> tuple[list[PackageCost], list[PackageCost], int]:
    """Return the rows that can be removed, the others that are worth a line, and the ns of those that are not."""
    removable = [row for row in rows if row.gone_ns is not None]
    others = sorted((row for row in rows if row.gone_ns is None), key=lambda row: -row.cost_ns)
    shown = [row for row in others if row.cost_ns >= LEAST_SHARE * total_ns]
    return removable, shown, sum(row.cost_ns for row in others[len(shown) :])


def head_of(result: PackagesResult) -> str:
    """Return the first line."""
    costs = result.costs
    goal = f", for {costs.goal}" if costs.goal is not None else ""
    return (
        f"{ms(costs.total_ns)} ms to ready{goal}; {costs.installed} packages are installed, and of "
        f"{len(costs.silent)} nothing ran or was read"
    )


def closing(result: PackagesResult) -> str:
    """Return whether the rows are the whole boot."""
    costs = result.costs
    nobody = sum(row.cost_ns for row in costs.rows if row.kind is not OwnerKind.PACKAGE)
    packaged = sum(row.cost_ns for row in costs.rows if row.kind is OwnerKind.PACKAGE)
    both = f"{ms(packaged)} ms of packages and {ms(nobody)} ms that are no package's"
    if costs.sum_ns == costs.total_ns:
        return f"account closed: {both} are the boot's {ms(costs.total_ns)} ms"
    return f"account open by {count(costs.total_ns - costs.sum_ns)} ns: {both}"


def proof_lines(proof: PackagesProof) -> list[str]:
    """Return what the boots without some packages showed."""
    lines = [f"without {', '.join(proof.removed)}"]
    if proof.along:
        lines.append(f"gone with them: {', '.join(proof.along)}")
    if proof.came:
        lines.append(f"come instead: {', '.join(proof.came)}")
    compared = proof.comparison
    if compared.saved_ns is not None and compared.before_ns is not None:
        share = percent(compared.saved_ns, compared.before_ns)
        lines.append(
            f"predicted {ms(proof.predicted_ns)} ms, measured {ms(compared.saved_ns)} ms ({share} %): "
            f"{ms(compared.before_ns)} -> {ms(compared.after_ns)} ms"
        )
    lines.append(f"verdict: {proof.verdict.value}: {compared.detail}")
    return lines


def clock_of(result: PackagesResult) -> str:
    """Return the sentence on the clock of the profiled boot."""
    costs = result.costs
    return clock_sentence("virtual", costs.ns_per_instruction, costs.cpu, [costs.seed])


def some(names: Sequence[str]) -> str:
    """Return the first of some names, and how many more there are."""
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return ", ".join(names[:_NAMES]) + more


def _counted(number: int, what: str) -> str:
    plural = {"process": "processes"}.get(what, f"{what}s")
    return f"{number} {what if number == 1 else plural}"
