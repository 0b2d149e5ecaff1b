"""Techniques that live outside of the package, held to what every technique promises; a broken file is left out.

What they do later is held apart, too: a change that fails does not apply, and a proof that fails shows nothing.
"""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from bootlab.errors import BootlabError, InputError
from bootlab.extensions.broken import note_broken, why_it_fails
from bootlab.extensions.folders import FAULTS, OutsideModule, find_modules, find_places
from bootlab.system import System
from bootlab.techniques.model.entry_checks import complaints_about, is_of_a_layer
from bootlab.techniques.model.evidence import Effect, Evidence, Measured
from bootlab.techniques.model.technique import Technique

_TABLE = "TECHNIQUES"


@dataclass(frozen=True, slots=True)
class OutsideTechnique:
    """A technique, and the hash of the file that it is in."""

    technique: Technique
    sha256: str


@cache
def load_outside(folders: tuple[Path, ...], taken: frozenset[str]) -> tuple[OutsideTechnique, ...]:
    """Return the techniques of all extensions, those in `folders` among them. Notes what is broken.

    `taken`: names that are bootlab's own.
    """
    found: dict[str, OutsideTechnique] = {}
    for place in find_places(folders):
        for one in find_modules(place, "techniques"):
            table = getattr(one.module, _TABLE, None)
            if table is None and not is_of_a_layer(one.relative):
                continue
            complaints = _complaints(one, table, {*taken, *found})
            if complaints:
                note_broken(str(one.file), "; ".join(complaints))
            elif isinstance(table, tuple):
                sha256 = hashlib.sha256(one.file.read_bytes()).hexdigest()
                found |= {row.name: OutsideTechnique(_guarded(row, one.file), sha256) for row in table}
    return tuple(found.values())


def _complaints(one: OutsideModule, table: object, taken: Collection[str]) -> list[str]:
    try:
        complaints = [text.removeprefix(f"{one.relative}: ") for text in complaints_about({one.relative: table})]
        rows = table if isinstance(table, tuple) and not complaints else ()
        return complaints + [
            f"{row.name}: name: there is a technique of this name already" for row in rows if row.name in taken
        ]
    except FAULTS as error:
        # A text that is no text, say: the fields of a technique are not checked by Python.
        return [f"{_TABLE}: {why_it_fails(error)}"]


def _guarded(technique: Technique, file: Path) -> Technique:
    change, proof = technique.change, technique.proof

    def applies(system: System, measured: Measured) -> str | None:
        try:
            return change.applies(system, measured)
        except BootlabError as error:
            return error.message
        except FAULTS as error:
            return _failed("applies", error)

    def apply(system: System, measured: Measured) -> System:
        try:
            changed = change.apply(system, measured)
        except BootlabError:
            raise
        except FAULTS as error:
            raise InputError(_failed("apply", error)) from error
        if not isinstance(changed, System):
            note_broken(str(file), f"{technique.name}: apply: returned {type(changed).__name__}, expected a System")
            raise InputError(f"{file}: apply returned {type(changed).__name__}, expected a System")
        return changed

    def prove(after: Evidence, before: Evidence) -> Effect:
        try:
            return Effect(proof.prove(after, before))
        except FAULTS as error:
            _failed("prove", error)
            return Effect.NOT_SHOWN

    def _failed(what: str, error: BaseException) -> str:
        why = f"{what} fails: {why_it_fails(error, file)}"
        note_broken(str(file), f"{technique.name}: {why}")
        return f"{file}: {why}"

    return replace(technique, change=replace(change, applies=applies, apply=apply), proof=replace(proof, prove=prove))
