"""`bootlab advise SYSTEM|RUN`: what costs what, and which technique could remove it."""

from pathlib import Path

from bootlab.cli.options.arguments import Json, Runs, names_system, open_store, open_system
from bootlab.cli.options.price import PriceModel, with_price
from bootlab.cli.profile.boots import Subject, prepare_profile, profile_boot, save_profile, start_run
from bootlab.cli.profile.verb import SystemOrRun, charged_models, priced_with
from bootlab.cli.terminal.showing import answer, say_page
from bootlab.errors import InputError
from bootlab.experiments.recorded_profiles import LABEL, Profiled, read_profile_run, require_profile
from bootlab.experiments.store import RunKind
from bootlab.profile.asked.request import ProfileRequest
from bootlab.report.profile.view import advice_view


def advise(system: SystemOrRun, price: PriceModel = None, json: Json = False, runs: Runs = None) -> int:
    """Rank what a boot's time up to ready was spent on: removable costs first, each with the technique that removes it.

    No time is in two lines, so the lines add up to the boot. `alone, estimated` is what a technique may save by itself;
    `bootlab try` measures what it does save. A system is profiled first; a RUN is a profile on record.
    With --price costs are prices under that host model, instructions + idle beside them. Exit code 0: the boot was
    ready and well; 1: anything else.
    """
    store = open_store(runs)
    page: Path | None = None
    if names_system(system):
        value = with_price(open_system(Path(system), silent=json), price)
        models = charged_models(value, Path(system))
        request = ProfileRequest(traps=bool(models))
        subject = Subject(value, Path(system), request, models=models)
        prepared = prepare_profile(subject, silent=json)
        run = start_run(store, RunKind.PROFILE, {LABEL: subject}, priced_with(models))
        with run.locked():
            analysis = profile_boot(subject, prepared, run, LABEL, silent=json)
            page = save_profile(run, Profiled(analysis))
    else:
        if price is not None:
            raise InputError(
                f"--price {price}: {system} is a run: its boot is as it was", hint="name the system that it booted"
            )
        analysis = read_profile_run(*require_profile(store, system))
    code = answer(advice_view(analysis), json=json)
    if not json:
        say_page(page)
    return code
