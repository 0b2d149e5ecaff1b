"""A fitted kernel that became files: the account beside them."""

from bootlab.errors import InputError
from bootlab.experiments.kept_systems import TAILORED
from bootlab.experiments.tailor.result import TailorResult
from bootlab.report.applied import ApplyDocument, Found, files_sections
from bootlab.report.parts.figures import count, ms
from bootlab.report.parts.markdown import markdown_table, plain, prose


def found_kernel(result: TailorResult) -> Found:
    """Return what a tailoring found. Raises InputError where its kernel was not booted to ready, or nothing went."""
    before_ns, after_ns = result.comparison.before_ns, result.comparison.after_ns
    if not result.dropped:
        raise InputError(f"{result.run}: no option went", hint="bootlab report shows what stays and why")
    if before_ns is None or after_ns is None:
        raise InputError(f"{result.run}: the fitted kernel is not ready: {result.comparison.detail}")
    return Found(
        run=result.run,
        system=result.system,
        stack=TAILORED,
        techniques=[],
        before_ns=before_ns,
        after_ns=after_ns,
    )


def _of(result: TailorResult) -> str:
    if result.comparison.price is not None:
        return f" of price by {plain(result.comparison.price)}"
    return f" on the {plain(result.comparison.clock)} clock"


def kernel_account(result: TailorResult, document: ApplyDocument) -> str:
    """Return the Markdown page beside the files: each kernel on the way, what each file is, what to look at first."""
    rows = [
        [plain(one.label), count(one.dropped), count(one.on), count(one.kernel_bytes), ms(one.ready_ns)]
        for one in result.steps
        if one.ready
    ]
    parts = [
        f"# {plain(result.system)}: the kernel that bootlab tailor fitted, as files",
        markdown_table(["kernel", "turned by name>", "options on>", "bytes loaded>", "ready ms>"], rows),
        prose(
            f"Plain boots: {ms(document.before_ns)} -> {ms(document.after_ns)} ms{_of(result)}, "
            f"{result.comparison.verdict}. What the system's check does not do will not work on this kernel."
        ),
    ]
    if result.give_up:
        parts.append(prose(f"Given up by name: {plain(', '.join(result.give_up))}."))
    parts.append(prose(f"Why each option went, or stays: {plain(result.reasons)}."))
    return "\n\n".join([*parts, *files_sections(document, boots="boots it, with the seed of its file")]) + "\n"
