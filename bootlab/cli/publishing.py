"""`bootlab ledger publish DIR`: a ledger as a site that needs no server, with the pages of the runs behind it."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer

import bootlab
from bootlab.cli.options.arguments import Json, Runs, open_store
from bootlab.cli.options.ledger import Ledger, ledger_folder
from bootlab.cli.terminal.speech import err, out, print_json, teller
from bootlab.errors import BootlabError, InputError
from bootlab.experiments.store import Run
from bootlab.ledger.entry import LedgerEntry
from bootlab.ledger.file import History, list_systems, read_history
from bootlab.ledger.function_costs import FunctionCosts, costs_text, function_costs, parse_costs
from bootlab.ledger.issue_costs import issue_rows
from bootlab.ledger.kept_runs import content_key, find_kept_runs, hash_run
from bootlab.ledger.known_issues import read_issues
from bootlab.ledger.site_folder import Publication, SiteFolder, open_site
from bootlab.ledger.steps import steps_of
from bootlab.report.kinds import KINDS
from bootlab.report.ledger.index_page import index_page
from bootlab.report.ledger.site import INDEX, RunPage, SystemSite
from bootlab.report.ledger.system_page import system_page

SCHEMA: Final = "bootlab.ledger-site/1"
_LEFT_OUT: Final = "left out"
_SOURCES: Final = {".py", ".js", ".css", ".html"}


def publish(
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="Folder of the site. It is made, or written anew in part.")
    ],
    ledger: Ledger = None,
    profile_pages: Annotated[
        bool,
        typer.Option(
            "--profile-pages/--no-profile-pages",
            help="Also the pages of profiles, some MB each; functions are compared without them, too.",
        ),
    ] = True,
    json: Json = False,
    runs: Runs = None,
) -> int:
    """Write the ledger as a site: history, known issues, any two entries side by side, and the pages of its runs.

    It needs no server and no network: open DIR/index.html. What is unchanged is not written again, and a file that
    bootlab has not written is neither changed nor removed. Exit code 0: published; 1: something was left out.
    """
    if not folder.strip():
        raise InputError("DIR: empty", hint="the site's folder, for example public")
    directory, store = Path(folder), open_store(runs)
    histories, unread = _read(ledger_folder(ledger))
    issues = read_issues(ledger_folder(ledger))
    kept = find_kept_runs(store, [entry for one in histories for entry in one.entries])
    with open_site(directory) as site:
        pages = _RunPages(site, kept.runs, kept.profiles, teller(silent=json), profile_pages=profile_pages)
        systems = [
            SystemSite(
                one,
                steps_of(one.entries),
                issue_rows(one.system, one.entries, issues),
                {entry.key: pages.report(entry) for entry in one.entries},
                {entry.key: pages.profile(entry) for entry in one.entries},
                pages.functions_of(one.entries),
            )
            for one in histories
        ]
        for one in systems:
            site.put(one.page, system_page(one))
        site.put(INDEX, index_page(systems, unread))
        done = site.publish()
    remarks = [*unread, *(remark for one in histories for remark in one.remarks), *kept.remarks, *pages.remarks]
    remarks += [f"{directory / name}: has been changed since it was published: it stays" for name in done.left]
    document = _document(directory, systems, done, remarks)
    if json:
        print_json(document)
    else:
        _say(document, remarks)
    return 1 if remarks else 0


class _RunPages:
    """The pages of kept runs, put into the site when they are asked for; those of runs that have gone stay there."""

    def __init__(
        self,
        site: SiteFolder,
        runs: dict[str, Run],
        profiles: dict[str, Run],
        tell: Callable[[str], None],
        *,
        profile_pages: bool,
    ) -> None:
        self.remarks: list[str] = []
        self._site = site
        self._runs = runs
        self._profiles = profiles
        self._tell = tell
        self._profile_pages = profile_pages
        self._form = _form()
        self._made: dict[str, RunPage] = {}
        self._costs: dict[str, FunctionCosts | None] = {}

    def report(self, entry: LedgerEntry) -> RunPage:
        """Return the page of the run that an entry was made from."""
        run = self._runs.get(entry.key)
        if run is not None and not self._profile_pages and run.kind in ("profile", "audit"):
            return RunPage(why=_LEFT_OUT)
        return self._page(f"reports/{entry.key[:16]}.html", run)

    def profile(self, entry: LedgerEntry) -> RunPage:
        """Return the page of a profile of what an entry booted."""
        run = self._profiles.get(entry.key)
        if not self._profile_pages:
            return RunPage(why=_LEFT_OUT) if run is not None else RunPage()
        return self._page(f"profiles/{content_key(entry)[:16]}.html", run)

    def functions_of(self, entries: Sequence[LedgerEntry]) -> dict[str, FunctionCosts]:
        """Return key of an entry -> what its functions took, of those whose profile is kept, or was once published."""
        found = {entry.key: self._functions(entry) for entry in entries}
        return {key: costs for key, costs in found.items() if costs is not None}

    def _page(self, name: str, run: Run | None) -> RunPage:
        if name not in self._made:
            self._made[name] = self._new_page(name, run)
        return self._made[name]

    def _new_page(self, name: str, run: Run | None) -> RunPage:
        if run is None:
            return RunPage(name) if self._site.keep(name, None) else RunPage()
        made_of = hash_run(run, self._form)
        if self._site.keep(name, made_of):
            return RunPage(name)
        self._tell(f"page of {run.path.name}")
        try:
            page = KINDS[run.kind](run).page
            if page is None:
                return RunPage(why=f"a run of bootlab {run.kind} has no page")
            self._site.put(name, page.make(True), made_of)
        except BootlabError as error:
            self.remarks.append(f"{run.path}: no page: {error.message}")
            return RunPage(why="damaged")
        return RunPage(name)

    def _functions(self, entry: LedgerEntry) -> FunctionCosts | None:
        name = f"profiles/{content_key(entry)[:16]}.json"
        if name not in self._costs:
            self._costs[name] = self._new_functions(name, self._profiles.get(entry.key))
        return self._costs[name]

    def _new_functions(self, name: str, run: Run | None) -> FunctionCosts | None:
        made_of = hash_run(run, bootlab.__version__) if run is not None else None
        if self._site.keep(name, made_of):
            try:
                return parse_costs(self._site.read(name))
            except ValueError as error:
                self.remarks.append(f"{name}: damaged: {error}")
        if run is None or made_of is None:
            return None
        try:
            costs = function_costs(run)
        except BootlabError as error:
            self.remarks.append(f"{run.path}: no functions: {error.message}")
            return None
        self._site.put(name, costs_text(costs), made_of)
        return costs


def _read(folder: Path) -> tuple[list[History], list[str]]:
    """Return the histories with entries, and what of the ledger is in none of them."""
    histories, unread = [], []
    for name in list_systems(folder):
        try:
            histories.append(read_history(folder, name))
        except BootlabError as error:
            # One file that cannot be read takes no other along.
            unread.append(error.message)
    for one in histories:
        if not one.entries:
            unread += [f"{one.system}: no entry of it can be read", *one.remarks]
    return [one for one in histories if one.entries], unread


def _form() -> str:
    """Return the hash of what makes pages: where that has changed, they are made anew."""
    digest = hashlib.sha256(bootlab.__version__.encode())
    for path in sorted((Path(bootlab.__file__).parent / "report").rglob("*")):
        if path.suffix in _SOURCES:
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _document(
    directory: Path, systems: Sequence[SystemSite], done: Publication, remarks: Sequence[str]
) -> dict[str, Any]:
    reports = [page for one in systems for page in one.reports.values()]
    profiles = [one.functions.get(step.entry.key) for one in systems for step in one.steps]
    return {
        "schema": SCHEMA,
        "index": str(directory / INDEX),
        "systems": len(systems),
        "entries": len(reports),
        "entries_with_report": sum(1 for page in reports if page.name),
        "entries_with_functions": sum(1 for one in profiles if one is not None),
        "written": done.written,
        "unchanged": done.unchanged,
        "removed": done.removed,
        "remarks": list(remarks),
    }


def _say(document: dict[str, Any], remarks: Sequence[str]) -> None:
    for remark in remarks:
        err.print(f"bootlab: warning: {remark}", soft_wrap=True)
    out.print(
        "{entries} entries of {systems} systems; {entries_with_report} with the page of their run, "
        "{entries_with_functions} with functions; files: {written} written, {unchanged} unchanged, {removed} "
        "removed".format(**document),
        soft_wrap=True,
    )
    out.print(f"site: {document['index']}", soft_wrap=True)
