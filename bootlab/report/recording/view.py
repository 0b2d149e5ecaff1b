"""A recording that another tool made, or two of them side by side, as a view."""

from collections.abc import Mapping
from pathlib import Path

from bootlab.experiments.importing import ImportResult, import_document
from bootlab.experiments.store import Run
from bootlab.report.parts.view import Page, View
from bootlab.report.recording.page import recording_page
from bootlab.report.recording.side_by_side_page import recording_sides_page
from bootlab.report.recording.side_by_side_text import comparison
from bootlab.report.recording.text import recording


def import_view(run: Run, result: ImportResult, exported: Mapping[str, Path] | None = None) -> View:
    """Return the view of an import. `exported`: label -> file that was written now."""
    document = import_document(result, str(run.path))
    if len(result.imported) > 1:
        before, after = result.imported
        sides = Page(lambda elsewhere: recording_sides_page(before, after))
        return View(document, (comparison(before, after),), sides)
    one = result.imported[0]
    written = exported or {}
    # The page finds by name what lies beside it.
    links = {
        label: str(path.relative_to(run.path) if path.is_relative_to(run.path) else path.absolute())
        for label, path in written.items()
    }
    return View(
        document,
        (recording(one.recording, one.name), *(f"wrote {path}" for path in written.values())),
        Page(lambda elsewhere: recording_page(one.recording, one.name, one.files, links)),
    )
