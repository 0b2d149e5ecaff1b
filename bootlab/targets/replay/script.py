"""What becomes of a replayed boot, by what was asked of it: `replay.toml` beside the recordings (docs/systems.md).

    boot = "baseline-s1"

    [[answer]]
    when = { "kernel.cmdline" = '\\bquiet\\b', seed = "1|3" }
    later_ns = -5_000_000

Every answer whose patterns are all found holds: delays add up, of anything else the last word counts.
"""

import json
import re
import tomllib
from enum import StrEnum
from pathlib import Path
from typing import Final

from pydantic import Field, ValidationError, field_validator

from bootlab.errors import InputError
from bootlab.system import Part, System

SCRIPT: Final = "replay.toml"


class ReplayedEnd(StrEnum):
    """How a replayed boot ends instead of being ready."""

    PANICKED = "panicked"
    HUNG = "hung"
    NOT_READY = "not ready"
    CHECK_FAILED = "check failed"
    NOT_STARTED = "not started"
    TARGET_DIED = "target died"
    INTERRUPTED = "interrupted"
    """Ctrl-C is pressed while it boots."""


class ScriptedAnswer(Part):
    """What holds of the boots whose system has all of `when`: key of the system -> pattern found in its value.

    A key is dotted, as in `machine.memory_mib`; its value is looked at as text, a table or list as JSON.
    """

    when: dict[str, str] = {}
    boot: str | None = None
    """The recorded boot that answers."""
    later_ns: int = 0
    """How much later it is ready than recorded; negative is earlier."""
    end: ReplayedEnd | None = Field(default=None, strict=False)
    detail: str = "as its script says"
    sizes: dict[str, int] = {}
    """Bytes of files that are not as large as recorded."""
    build_s: float = Field(default=0.0, ge=0, strict=False)
    """Host seconds that its kernel took to build."""
    refused: str | None = None
    """Why there is no such system: a technique that asks for it does not apply."""
    unbuilt: str | None = None
    """Why it could not be built."""

    @field_validator("when")
    @classmethod
    def _compiles(cls, value: dict[str, str]) -> dict[str, str]:
        for key, text in value.items():
            try:
                re.compile(text)
            except re.error as error:
                raise ValueError(f"{key}: not a regular expression: {error}") from error
        return value

    def holds(self, system: System, *, any_seed: bool = False) -> bool:
        """Return whether the system has all that is asked; with `any_seed`, whatever its seed is."""
        asked = {key: text for key, text in self.when.items() if not (any_seed and key == "seed")}
        return all(re.search(text, _value(system, key)) is not None for key, text in asked.items())


class Script(Part):
    """`boot` answers for every system; `answer` says what is otherwise."""

    boot: str
    answer: tuple[ScriptedAnswer, ...] = Field(default=(), strict=False)

    def answer_for(self, system: System) -> ScriptedAnswer:
        """Return all that holds for a boot of `system`, its seed included, as one answer."""
        return self._together([one for one in self.answer if one.holds(system)])

    def prepared_for(self, system: System) -> ScriptedAnswer:
        """Return what holds for `system` with every seed."""
        return self._together([one for one in self.answer if "seed" not in one.when and one.holds(system)])

    def _together(self, answers: list[ScriptedAnswer]) -> ScriptedAnswer:
        said: dict[str, object] = {"boot": self.boot}
        for one in answers:
            said |= {name: getattr(one, name) for name in one.model_fields_set}
        said["later_ns"] = sum(one.later_ns for one in answers)
        said["sizes"] = {name: size for one in answers for name, size in one.sizes.items()}
        return ScriptedAnswer.model_validate({**said, "when": {}})


def read_script(folder: Path) -> Script | None:
    """Return the script beside the recordings in `folder`, None where there is none. Raises InputError."""
    path = folder / SCRIPT
    try:
        return Script.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise InputError(f"{path}:{key}: {first['msg']}", hint="docs/systems.md describes its keys") from error


def _value(system: System, key: str) -> str:
    value: object = system.model_dump(mode="json")
    for name in key.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str) else json.dumps(value)
