"""The errors a user can meet; each carries a hint and an exit code.

Only the command line prints them. Everything below raises them, so that a bad path or a broken guest is one clear line
and never a traceback.
"""


class BootlabError(Exception):
    """Something a user can act on: what is wrong, the next thing to try, and the exit code."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class InputError(BootlabError):
    """Wrong use or bad input: a file, a key or an option that cannot be right."""

    exit_code = 2


class MissingTool(BootlabError):
    """A program or device this job needs is not here, or is too old."""

    exit_code = 3


class BootFailed(BootlabError):
    """A boot ran and did not end as it should: panicked, hung, never ready, or killed from outside."""


class StoreError(BootlabError):
    """A run could not be written or read back: full disk, no permission, damaged record."""


class Interrupted(BootlabError):
    """The user pressed Ctrl-C or the process was told to end; everything started has been stopped."""

    exit_code = 130


def is_interruption(error: BaseException) -> bool:
    """Return whether Ctrl-C was pressed: pydantic makes an error of its own of one that comes while it writes JSON."""
    told = type(error).__name__ == "PydanticSerializationError" and "KeyboardInterrupt" in str(error)
    return told or isinstance(error, KeyboardInterrupt | Interrupted)
