"""Looks up options that a boot needs in its kernel's configuration, and names the one that is off."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KernelOptions:
    """Options of the kernel that booted. `values` is None when they are not known: then every answer is a guess."""

    values: Mapping[str, str] | None
    built: bool = False
    """Whether the system file builds the kernel, so that it can also change the option."""

    @property
    def known(self) -> bool:
        """Return whether the kernel's configuration is known."""
        return self.values is not None

    def off(self, *names: str) -> list[str]:
        """Return which of `names` are known to be off; nothing when the configuration is not known."""
        return [] if self.values is None else [name for name in names if self.values.get(name, "n") == "n"]

    def modules(self, *names: str) -> list[str]:
        """Return which of `names` are known to be modules."""
        return [] if self.values is None else [name for name in names if self.values.get(name) == "m"]

    def blame(self, *names: str) -> str | None:
        """Return `CONFIG_A is off`, of those known to be off; a guess at all of them when nothing is known.

        None when the configuration is known and has them all: then it is something else.
        """
        if self.values is None:
            return f"this kernel was probably built without {_listed(names, 'or')}"
        off = self.off(*names)
        if not off:
            return None
        remedy = ", ".join(f"{name} = true" for name in off)
        how = (
            f": kernel.build.options = {{ {remedy} }}"
            if self.built
            else f": take a kernel that has {'it' if len(off) == 1 else 'them'}"
        )
        return f"{_listed(off, 'and')} {'is' if len(off) == 1 else 'are'} off in this kernel{how}"


def _listed(names: list[str] | tuple[str, ...], word: str) -> str:
    said = [f"CONFIG_{name}" for name in names]
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} {word} {said[-1]}"
