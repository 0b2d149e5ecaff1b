"""A kernel to be compiled, as one host tells another: all that decides its bytes, and no path of either."""

from dataclasses import dataclass

from bootlab.build.source.config_text import parse_config
from bootlab.build.source.toolchain import RUST


@dataclass(frozen=True, slots=True)
class KernelOrder:
    """A kernel whose configuration is finished and whose source is in the cache."""

    key: str
    """Of its entry in the cache, `kernel`: two orders with one key are for the same bytes."""
    version: str
    arch: str
    config: str
    """The text of the finished .config."""
    source: str
    """The identity of its source, and the key of that source in the cache, `kernel-source`."""
    objects: str
    """Names the folder in which its objects stay, with those of kernels that differ in a few options."""
    tools: dict[str, str]
    """What it has to be compiled with: `compiler`, and the optional programs that its configuration knows of."""
    initramfs: str | None = None
    """sha256 of the archive that goes into the image."""

    @property
    def options(self) -> dict[str, str]:
        """Return option -> value, of those that are not off."""
        return parse_config(self.config)

    @property
    def rust(self) -> bool:
        """Whether Rust is to be in it, for which the toolchain looks for a compiler."""
        return self.options.get(RUST) == "y"

    @property
    def what(self) -> str:
        """Return what is compiled, in a few words."""
        on = sum(value == "y" for value in self.options.values())
        return f"Linux {self.version} for {self.arch}, {on} options on"
