"""The JSON document of a profile, bootlab.profile/1 (docs/formats.md): everything an analysis found, and the account.

Tables hold what a reader can use and are cut where a boot has tens of thousands of rows; profile.bin has them all.
"""

from typing import Any, Final

from bootlab.findings.analysis import Analysis
from bootlab.findings.kvm_price import price_document
from bootlab.profile.tables.plain_data import plain
from bootlab.profile.tree.call_tree import LEAVES
from bootlab.profile.tree.differential import compare_trees
from bootlab.timeline import marks as m

SCHEMA: Final = "bootlab.profile/1"
_FUNCTIONS: Final = 1000
_WAITS: Final = 200


def profile_document(analysis: Analysis) -> dict[str, Any]:
    """Return the document of a profiled boot. Times are ns since power-on on the virtual clock."""
    record, profile = analysis.record, analysis.profile
    waits = plain(analysis.waits)
    waits["waits"] = waits["waits"][:_WAITS]
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "system": record.system,
        "clock": record.clock,
        "ns_per_instruction": record.ns_per_instruction,
        "cpu": record.cpu,
        "seed": record.seed,
        "outcome": record.outcome.value,
        "detail": record.detail,
        "complete": profile.complete,
        "past_ready_ns": analysis.past_ready_ns,
        "ready_ns": record.marks.get(m.READY),
        "account": plain(analysis.account),
        "marks": record.marks,
        "slices": [
            {
                "name": one.name,
                "start_ns": one.start_ns,
                "end_ns": one.end_ns,
                "instructions": one.end_instructions - one.start_instructions,
            }
            for one in profile.slices
        ],
        **({} if analysis.price is None else {"kvm": price_document(analysis.price)}),
        "activity": plain(analysis.activity),
        "functions": [one.as_json() for one in analysis.tree.top_functions(_FUNCTIONS)],
        "initcalls": plain(analysis.initcalls),
        "waits": waits,
        "critical_path": plain(analysis.critical_path),
        "processes": plain(analysis.processes),
        "disks": [one.model_dump(mode="json") for one in record.disks],
        "disk_callers": plain(analysis.disk_callers),
        "disk_files": plain(analysis.disk_files),
        "syscalls": plain(analysis.syscalls),
        "coverage": plain(analysis.coverage),
        "advice": analysis.advice.model_dump(mode="json", by_alias=True) if analysis.advice is not None else None,
        "tasks": [
            {
                "task": one.number,
                "parent": one.parent,
                "pid": one.pid,
                "tgid": one.tgid,
                "name": one.name,
                "started_ns": one.started_ns,
                "exited_ns": one.exited_ns,
            }
            for one in profile.tasks
        ],
        "hashes": record.hashes,
        "boot": record.run,
    }
    return document


def difference_document(before: Analysis, after: Analysis) -> dict[str, Any]:
    """Return what differs between two profiles up to ready: the functions with the largest change of their own time."""
    functions = [one for one in compare_trees(before.tree, after.tree).functions("elapsed") if one.name not in LEAVES]
    return {
        "before": {"system": before.record.system, "boot": before.record.run, "end_ns": before.end_ns},
        "after": {"system": after.record.system, "boot": after.record.run, "end_ns": after.end_ns},
        "functions": [
            {
                "name": one.name,
                "self_before_ns": one.self_before,
                "self_after_ns": one.self_after,
                "total_before_ns": one.total_before,
                "total_after_ns": one.total_after,
            }
            for one in functions[:_FUNCTIONS]
        ],
    }
