"""`--cluster` and `--parallel`: where the boots of a verb run, and how many at once."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from bootlab.build.kernel.order import KernelOrder
from bootlab.build.workshop import Workshop
from bootlab.cli.options.arguments import open_cache
from bootlab.cluster.address import OPTION, LocalWorkers, RunningScheduler, parse_cluster
from bootlab.errors import MissingTool
from bootlab.measure.place import BootPlace, Here

_KINDS = ("local:", "tls://", "tcp://127.0.0.1:", "scheduler-file:")


def complete_cluster(incomplete: str) -> list[str]:
    """Return the kinds of address that begin with what was typed."""
    return [kind for kind in _KINDS if kind.startswith(incomplete)]


@dataclass(frozen=True, slots=True)
class ChosenPlace:
    """Where a verb's boots are to run; nothing is started or asked yet."""

    cluster: LocalWorkers | RunningScheduler | None
    parallel: int | None

    @contextmanager
    def open(self, tell: Callable[[str], None]) -> Iterator[BootPlace]:
        """Give the place: this host, or the cluster. Raises BootFailed for a cluster that does not answer.

        `tell` gets what a user should know of its workers.
        """
        if self.cluster is None:
            yield Here(self.parallel)
            return
        from bootlab.cluster.place import open_cluster

        with open_cluster(self.cluster, open_cache(), parallel=self.parallel, tell=tell) as place:
            yield place

    def furnish(self, shop: Workshop) -> Workshop:
        """Return the workshop of who makes systems ready before the place is open: a kernel opens it for itself."""
        return shop if self.cluster is None else replace(shop, compile_place=_OpenedForKernel(self))


@dataclass(frozen=True, slots=True)
class _OpenedForKernel:
    chosen: ChosenPlace

    def compile(self, shop: Workshop, order: KernelOrder, initramfs: Path | None) -> bool | None:
        with self.chosen.open(shop.tell) as place:
            there = place.furnish(shop).compile_place
            return None if there is None else there.compile(shop, order, initramfs)


def choose_place(cluster: str | None, parallel: int | None) -> ChosenPlace:
    """Return the place that the options name. Raises InputError for an address, MissingTool where there is no Dask."""
    if cluster is None:
        return ChosenPlace(None, parallel)
    where = parse_cluster(cluster)
    try:
        import distributed  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingTool(
            f"{OPTION} {cluster}: needs Dask, and the Python package {error.name} is not there",
            hint="pip install 'bootlab[cluster]'; in a checkout .venv/bin/pip install -e '.[cluster]'",
        ) from error
    return ChosenPlace(where, parallel)


Cluster = Annotated[
    str | None,
    typer.Option(
        OPTION,
        metavar="ADDRESS",
        help="Boot on the workers of a Dask cluster: local:N (N workers here), tls://HOST:PORT, tcp://127.0.0.1:PORT, "
        "scheduler-file:FILE. docs/cluster.md. [default: on this host]",
        autocompletion=complete_cluster,
    ),
]
