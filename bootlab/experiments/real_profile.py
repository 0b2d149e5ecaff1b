"""A profile of a real machine: what its own kernel and tools tell of a boot, and what it costs to have them tell.

Nobody counts a board's instructions. Its kernel is booted with words that make it say more (initcall_debug), its shell
is asked for the kernel's log, systemd's times and whatever else the system file names, and all of it is read as
`bootlab import` reads it, on one clock. Boots without those words, in turn with them, say how much longer a boot takes
that is asked to tell.
"""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median_low
from typing import Final

from bootlab.build.workshop import Workshop
from bootlab.errors import BootFailed, InputError
from bootlab.experiments.importing import Imported, ImportedFile, ImportResult
from bootlab.experiments.store import Run
from bootlab.importers.importer import Options
from bootlab.importers.merging import merge
from bootlab.importers.reading.source import Source
from bootlab.importers.registry import read_recording
from bootlab.importers.serial.console_lines import ConsoleLine
from bootlab.importers.serial.console_recording import console_recording
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.record_files import store_error
from bootlab.measure.statistics.median_interval import median_interval
from bootlab.process import require_program
from bootlab.system import ShellAccess, System, words_of
from bootlab.targets.shell import ANSWERS, ShellAnswers, ShellQuestions, Telling, read_answers
from bootlab.targets.target import Prepared
from bootlab.timeline import marks as m
from bootlab.timeline.recording import Recording

CONSOLE: Final = "console.log"
SAID: Final = "said"
"""The folder of a boot's answers, a file each."""
ASKED: Final = "asked"
"""Label of a boot whose kernel was told to tell, and whose shell was asked."""
PLAIN: Final = "plain"
"""Label of a boot as it always is."""


@dataclass(frozen=True, slots=True)
class RealProfile:
    """A system of a real machine to profile. `pairs`: boots of either kind."""

    system: System
    telling: Telling
    pairs: int
    options: Options = Options()

    @property
    def access(self) -> ShellAccess:
        """Return how its shell is reached. Raises InputError where the system file does not say so."""
        return self.telling.require_access(
            "of a real machine only its own kernel and tools can tell where the time went"
        )

    @property
    def is_told(self) -> bool:
        """Return whether the kernel's words reach the machine, so that its kernel can be told to tell."""
        return self.telling.delivers and bool(self.access.words.strip())


def profile_real_machine(asked: RealProfile, run: Run, shop: Workshop, tell: Callable[[str], None]) -> ImportResult:
    """Boot a real machine, ask it, and return what it told as one recording; each boot is on record in `run`.

    `tell` hears of each boot as it begins. Raises InputError for a system that cannot be asked, BootFailed where a
    boot is not ready and well or nothing that came back can be read, StoreError.
    """
    questions = ShellQuestions.of(asked.access)
    if asked.access.command is not None:
        # A boot takes longer than to find out.
        require_program(words_of(asked.access.command)[0])
    told = asked.system.with_cmdline(asked.access.words) if asked.is_told else asked.system
    with_words = prepare(shop, told).asking(questions)
    plain = prepare(shop, asked.system) if asked.is_told else None
    times: dict[str, list[int]] = {PLAIN: [], ASKED: []}
    lines: list[ConsoleLine] = []
    records: list[BootRecord] = []
    for number in range(1, asked.pairs + 1 if asked.is_told else 2):
        if plain is not None:
            tell(f"boot {number} of {asked.pairs} as it always is")
            times[PLAIN].append(_boot(plain, run.boot_directory(f"{PLAIN}-{number}"), []).marks[m.READY])
        tell(f"boot {number} of {asked.pairs} that tells" if plain is not None else "a boot, then its shell is asked")
        lines.clear()
        records.append(_boot(with_words, run.boot_directory(f"{ASKED}-{number}"), lines))
        times[ASKED].append(records[-1].marks[m.READY])
    last = records[-1]
    answers = read_answers(questions, (Path(last.run) / ANSWERS).read_bytes())
    imported = _read_all(asked, Path(last.run), answers, lines if not with_words.console.is_asked else [])
    notes = [*_cost(asked, times), *last.remarks, *(f"{name}: {why}." for name, why in answers.missing.items())]
    return ImportResult((replace(imported, recording=_noted(imported.recording, notes)),))


def _boot(prepared: Prepared, directory: Path, lines: list[ConsoleLine]) -> BootRecord:
    record = boot(
        prepared, directory, on_line=lambda t_ns, text: lines.append(ConsoleLine(t_ns, text)) if t_ns >= 0 else None
    )
    if record.outcome is not Outcome.READY:
        raise BootFailed(
            f"{directory.name}: {record.outcome.value}: {record.detail}", hint=f"its console is {directory}/{CONSOLE}"
        )
    return record


def _cost(asked: RealProfile, times: dict[str, list[int]]) -> list[str]:
    if not asked.is_told:
        why = "nothing is delivered to this machine" if asked.access.words.strip() else "target.shell.words is empty"
        return [f"Its kernel was told nothing for this ({why}), so telling cost this boot nothing, and its log has no "
                "more than it always has."]  # fmt: skip
    plain, told = times[PLAIN], times[ASKED]
    what = f"Ready at {_ms(median_low(told))} ms with `{asked.access.words}`, at {_ms(median_low(plain))} ms without"
    differences = [one - other for one, other in zip(told, plain, strict=True)]
    if len(differences) == 1:
        cost = f"{_ms(differences[0])} ms, of one boot each: how far either moves by itself is not known"
    else:
        low, high = median_interval(differences)
        cost = (
            f"{_ms(median_low(differences))} ms in the median of {len(differences)} pairs, "
            f"{'95 %' if len(differences) > 5 else 'all'} between {_ms(low)} and {_ms(high)}"
        )
    return [f"{what}. Telling cost {cost}."]


def _read_all(asked: RealProfile, directory: Path, answers: ShellAnswers, lines: Sequence[ConsoleLine]) -> Imported:
    found: list[tuple[ImportedFile, Recording]] = []
    refused: list[str] = []
    # In a folder of their own: a question may have the name of a boot's own file.
    place = directory / SAID
    for name, text in answers.said.items():
        try:
            place.mkdir(exist_ok=True)
            (place / name).write_bytes(text)
        except OSError as error:
            raise store_error(place / name, error) from error
        source = Source(name, io.BytesIO(text))
        try:
            recording = read_recording(source, asked.options)
        except InputError as error:
            refused.append(f"{name}: kept in {place / name}, and not read: {error.message}")
            continue
        source.drain()
        found.append((ImportedFile(name, recording.format, source.size, source.sha256, source.account()), recording))
    if lines:
        console = Source(CONSOLE, io.BytesIO((directory / CONSOLE).read_bytes()))
        console.drain()
        recording = console_recording(
            lines,
            format_name="bootlab",
            tool="bootlab",
            about_clock="the host's CLOCK_MONOTONIC as each line's first byte began; zero is time 0 of the boot",
        )
        # Last: a quiet console has nothing to lay the kernel's log by, and that is what all this is for.
        found.append((ImportedFile(CONSOLE, "bootlab", console.size, console.sha256), recording))
    if not found:
        raise BootFailed(
            f"{asked.system.name}: nothing that it told can be read",
            hint=f"what came back is in {directory / ANSWERS}; {'; '.join(refused) or 'it is empty'}",
        )
    return _laid_together(asked.system.name, found, refused)


def _laid_together(name: str, found: list[tuple[ImportedFile, Recording]], refused: list[str]) -> Imported:
    # What cannot be laid onto the others' clock is named and stays beside, and does not cost the rest.
    kept = found[:1]
    merged = merge([(file.name, recording) for file, recording in kept])
    for one in found[1:]:
        try:
            merged = merge([(file.name, recording) for file, recording in [*kept, one]])
            kept.append(one)
        except InputError as error:
            refused.append(f"{error.message}: kept beside, and not on this clock")
    recording = _noted(merged.recording, [f"{one}." for one in refused]) if refused else merged.recording
    return Imported(name, tuple(file for file, _ in kept), recording, merged.placements)


def _noted(recording: Recording, notes: Sequence[str]) -> Recording:
    return replace(recording, notes=(*notes, *recording.notes))


def _ms(t_ns: int) -> str:
    return f"{t_ns / 1e6:,.3f}"
