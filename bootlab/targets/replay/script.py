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
import types
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, Self, Union, get_args, get_origin

from pydantic import Field, ValidationError, field_validator, model_validator

from bootlab.errors import InputError
from bootlab.kept_file import UNREADABLE, read_kept, why_damaged
from bootlab.system import Part, System
from bootlab.system.part import expect_pattern

SCRIPT: Final = "replay.toml"
_FURTHEST_NS: Final = 10**16
"""A hundred days: a trace has room for a thousand of such answers together."""
_LARGEST: Final = 1 << 62
_HINT: Final = "docs/systems.md describes its keys"
# What is known of a system before any of its seeds boots.
_NOT_WITH_A_SEED: Final = ("sizes", "build_s", "refused", "unbuilt")


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
    later_ns: int = Field(default=0, ge=-_FURTHEST_NS, le=_FURTHEST_NS)
    """How much later it is ready than recorded; negative is earlier."""
    end: ReplayedEnd | None = Field(default=None, strict=False)
    detail: str = "as its script says"
    sizes: dict[str, Annotated[int, Field(ge=0, le=_LARGEST)]] = {}
    """Bytes of files that are not as large as recorded."""
    build_s: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """Host seconds that its kernel took to build."""
    kernel_config: str | None = None
    """The file beside the recordings that has its kernel's configuration, where it is not `kernel.config`."""
    refused: str | None = None
    """Why there is no such system: a technique that asks for it does not apply."""
    unbuilt: str | None = None
    """Why it could not be built."""

    @field_validator("when")
    @classmethod
    def _compiles(cls, value: dict[str, str]) -> dict[str, str]:
        for key, text in value.items():
            if not _is_key(key):
                raise ValueError(f"{key!r} is no key of a system file, so it would hold for none")
            try:
                expect_pattern(text)
            except ValueError as error:
                raise ValueError(f"{key}: {error}") from error
        return value

    @model_validator(mode="after")
    def _known_before_a_seed_boots(self) -> Self:
        said = [name for name in _NOT_WITH_A_SEED if name in self.model_fields_set]
        if said and "seed" in self.when:
            raise ValueError(f"{said[0]} holds for a system with every seed: leave seed out of when")
        return self

    def holds(self, system: System) -> bool:
        """Return whether the system has all that is asked."""
        return all(re.search(text, _value(system, key)) is not None for key, text in self.when.items())


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
            said |= {name: getattr(one, name) for name in one.model_fields_set - {"when"}}
        said["later_ns"] = sum(one.later_ns for one in answers)
        said["sizes"] = {name: size for one in answers for name, size in one.sizes.items()}
        return ScriptedAnswer().model_copy(update=said)


def read_script(folder: Path) -> Script | None:
    """Return the script beside the recordings in `folder`, None where there is none. Raises InputError."""
    path = folder / SCRIPT
    try:
        return Script.model_validate(tomllib.loads(read_kept(path)))
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise InputError(f"{path}:{why_damaged(error)}", hint=_HINT) from error
    except UNREADABLE as error:
        raise InputError(f"{path}: {why_damaged(error)}", hint=_HINT) from error


def _is_key(key: str) -> bool:
    kinds: list[Any] = [System]
    for name in key.split("."):
        if dict in kinds:
            return True
        fields = [kind.model_fields for kind in kinds if issubclass(kind, Part)]
        kinds = [kind for known in fields if name in known for kind in _kinds(known[name].annotation)]
        if not any(name in known for known in fields):
            return False
    return True


def _kinds(annotation: Any) -> Iterator[type]:
    """Yield the classes that a value of this type can be of, `dict` for any table of the user's own names."""
    origin = get_origin(annotation)
    if origin in (Annotated, Union, types.UnionType):
        for one in get_args(annotation)[: 1 if origin is Annotated else None]:
            yield from _kinds(one)
    elif isinstance(origin or annotation, type):
        yield origin or annotation


def _value(system: System, key: str) -> str:
    value: object = system.model_dump(mode="json")
    for name in key.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str) else json.dumps(value)
