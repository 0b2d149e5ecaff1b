"""Keeps what was found in each configuration of a tailoring, so that one that is resumed does not look again."""

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter

from bootlab import __version__
from bootlab.measure.record_files import store_error, write_whole

_Found = TypeVar("_Found")


class Searches:
    """The searches of one run, in a folder of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, form: TypeAdapter[_Found], asked: Sequence[object], look: Callable[[], _Found]) -> _Found:
        """Return what `look` finds, or found when `asked`, values of JSON that decide it, were the same.

        `form`: that of what is found. Raises StoreError when what was found cannot be kept.
        """
        key = hashlib.sha256(json.dumps([__version__, *asked], sort_keys=True).encode()).hexdigest()
        path = self._folder / f"{key[:16]}.json"
        # One that is damaged is made anew.
        with suppress(OSError, ValueError):
            return form.validate_json(path.read_bytes())
        found = look()
        try:
            self._folder.mkdir(exist_ok=True)
            write_whole(path, form.dump_json(found).decode())
        except OSError as error:
            raise store_error(path, error) from error
        return found
