"""Which stack of a trial is asked for."""

from bootlab.errors import InputError
from bootlab.experiments.kept_systems import system_file_name
from bootlab.experiments.trial.result import StackName, TryResult


def choose_stack(result: TryResult, asked: str | None) -> StackName:
    """Return the stack of a trial that is asked for; without a word the recommended one, or a plan's ladder.

    Raises InputError for one that the trial does not have, and for one that holds nothing.
    """
    there = [name for name in StackName if name in result.final]
    if not there:
        raise InputError(f"{result.run}: this trial stacked nothing (--no-stack)", hint="bootlab try, with --stack")
    chosen = next((name for name in there if asked in (None, name, system_file_name(name).removesuffix(".toml"))), None)
    if chosen is None:
        raise InputError(f"--stack {asked}: this trial has no such stack", hint=f"it has: {', '.join(there)}")
    if not result.final[chosen].techniques:
        others = [name for name in there if result.final[name].techniques]
        hint = f"--stack {others[0].value!r} holds some" if others else "bootlab report shows what was tried"
        raise InputError(f"{result.run}: no technique stayed on the stack {chosen.value!r}", hint=hint)
    return chosen
