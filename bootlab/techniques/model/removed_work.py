"""What a technique takes out of a boot, in the words and functions of a profile: `bootlab advise` counts it."""

from dataclasses import dataclass, replace

STAGES = ("[firmware]", "[SPL]", "[OpenSBI]", "[U-Boot]", "[decompressor]")
"""The stages of a profile that are no kernel: all before the image's first instruction, and before the kernel's own."""


@dataclass(frozen=True, slots=True)
class Removes:
    """What a profile shows that a boot with the technique does without: functions with all that they call.

    With `shortens` it bounds the gain (bootlab advise). What the technique needs instead is not taken off.
    """

    what: str
    """Words for a reader: what is spared, as in `self-tests of the crypto API`."""
    functions: tuple[str, ...] = ()
    """Kernel functions, without the compiler's suffixes (`.isra.0`); `caller/function` only below that caller.

    `function [U-Boot]` is one of that stage.
    """
    keeps: tuple[str, ...] = ()
    """Functions called by those that go on all the same, as the writing of what a decompressor unpacks."""
    stages: tuple[str, ...] = ()
    """What runs before the kernel: of `STAGES`."""
    shortens: tuple[str, ...] = ()
    """Functions and stages that still run, and do less: the gain may lie in them too."""
    each: bool = False
    """The technique takes one of the functions at a time, so each is a cost of its own."""
    replaced: bool = False
    """Something else does the same work instead, so the gain is less: another decompressor, say."""

    def also(self, *functions: str, what: str | None = None, shortens: tuple[str, ...] = ()) -> "Removes":
        """Return what a technique removes that takes this and more: `functions`, and `what` in other words."""
        return replace(
            self,
            what=what or self.what,
            functions=(*self.functions, *functions),
            shortens=(*self.shortens, *shortens),
        )
