"""Makes the kernels of one tailoring: sets options by name, asks kconfig what comes of them, and builds."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from bootlab.build.boot_files import build_kernel_of
from bootlab.build.kernel.build import BuiltKernel, objects_of
from bootlab.build.kernel.makefiles import Makefiles
from bootlab.build.kernel.objects import MAP_OPTION
from bootlab.build.kernel.recompiled import FunctionLengths
from bootlab.build.source.configure import configure
from bootlab.build.source.make import BuildFailed
from bootlab.build.source.option_dependencies import KconfigTree, load_kconfig
from bootlab.build.source.origin import require_source
from bootlab.build.source.toolchain import require_toolchain
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.experiments.tailor.protected import GATES
from bootlab.experiments.tailor.unused_options import Drop
from bootlab.experiments.tailor.values import Value
from bootlab.system import KernelBuild, System


class Kernels:
    """Builds kernels that differ from the system's own in a few options.

    Raises InputError for a configuration that tailoring cannot begin with, and for `values` that its options cannot
    have.
    """

    def __init__(self, shop: Workshop, system: System, build: KernelBuild, values: Sequence[Value] = ()) -> None:
        self._system = system
        self._build = build
        self._shop = shop
        self._built = set[Path]()
        self._toolchain = require_toolchain(system.machine.arch)
        self.source = require_source(shop, build)
        self.makefiles = Makefiles(self.source.tree, self._toolchain.kbuild)
        self._gates = dict[str, str]()
        self._gates = self._open_gates(values)

    @property
    def count(self) -> int:
        """How many different kernels there were, those from the cache included."""
        return len(self._built)

    def with_options(self, options: dict[str, str]) -> System:
        """Return the system with the gates open and some more options set."""
        changed = self._build.model_copy(update={"options": {**self._build.options, **self._gates, **options}})
        return self._system.with_part("kernel", build=changed)

    def first(self, system: System, who: str) -> BuiltKernel:
        """Return the kernel that all begins with. Raises BuildFailed naming what it is."""
        try:
            return self._make(system, who)
        except BuildFailed as error:
            raise BuildFailed(
                f"kernel.build: the kernel as it is does not build, before anything was dropped\n{error.message}",
                hint=error.hint or "bootlab build kernel builds it alone",
            ) from error

    def build(self, system: System, who: str) -> BuiltKernel | str:
        """Return a kernel, or in one line why there is none: options that kconfig refuses or make fails with."""
        try:
            return self._make(system, who)
        except (BuildFailed, InputError) as error:
            return " ".join(line.strip() for line in error.message.splitlines()[:2])

    @contextmanager
    def compiling_again(self, config: str) -> Iterator[FunctionLengths]:
        """Give what tells how long functions would be with other options, while no other build changes the objects.

        An object that is not among them is made, with the configuration `config`.
        """
        folder = objects_of(self._build, self.source, self._toolchain, self._shop.cache)

        def make(name: str) -> None:
            # A build that was killed has taken all objects with it, and one from elsewhere left none here.
            (folder.objects / ".config").write_text(config, encoding="utf-8")
            folder.make([name], self._shop.tell_compiled)

        with folder.locked(self._shop.tell):
            yield FunctionLengths(folder.objects, make)

    def tree(self, config: str) -> KconfigTree:
        """Return a configuration, to be changed step by step."""
        with load_kconfig(config, self.source, self._toolchain) as kconf:
            return KconfigTree(kconf)

    def granted(self, config: str, drops: Sequence[Drop]) -> tuple[tuple[Drop, ...], KconfigTree]:
        """Return the drops that kconfig grants on top of `config`, one after the other, and what they come to.

        Of two that undo each other the last one holds, as of two members of a choice.
        """
        tree = self.tree(config)
        # What another one would have made possible, or took along, is none.
        granted = [drop for drop in drops if tree.give(drop.option, drop.value)]
        return tuple(drop for drop in granted if tree.value(drop.option) == drop.value), tree

    def _make(self, system: System, who: str) -> BuiltKernel:
        shop = replace(self._shop, tell=lambda line: self._shop.tell(f"{who}: {line}"))
        kernel = build_kernel_of(shop, system)
        self._built.add(kernel.vmlinux)
        return kernel

    def _open_gates(self, values: Sequence[Value]) -> dict[str, str]:
        configuration = configure(self._shop, self._build, self.source, self._toolchain)
        tree = self.tree(configuration.text)
        for value in values:
            if (reason := tree.refusal(value.option, value.value)) is not None:
                raise InputError(f"--try {value}: Linux {self.source.version}: {reason}")
        gates = {gate: "y" for gate in GATES if tree.turn_on(gate)}
        if MAP_OPTION not in gates:
            raise InputError(
                f"kernel.build: Linux {self.source.version} cannot have {MAP_OPTION}, by which code finds its object"
            )
        return gates
