"""Rented machines as targets: an instance of EC2, or a machine of any cloud that four commands make and delete."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bootlab.build.workshop import Workshop
from bootlab.clouds.commands import CommandRental
from bootlab.clouds.ec2 import Ec2Rental, find_instances, open_ec2, terminate
from bootlab.clouds.rent import estimate
from bootlab.clouds.rental import Rental
from bootlab.errors import BootlabError, InputError
from bootlab.system import AskedMachine, CommandCloud, Ec2Instance, System
from bootlab.targets.cloud.session import RentedSession
from bootlab.targets.host.target import ASKED, BOOTS_WHAT_IT_HAS, refuse_profile
from bootlab.targets.target import NO_FILES, BootRequest, OpenedMachine, Prepared


@dataclass(frozen=True, slots=True, kw_only=True)
class RentedPrepared(Prepared):
    """A machine that can be ordered. `rent`: gives a fresh one. `warm_up_s`: its first boot may take so long."""

    asked: AskedMachine
    rent: Callable[[], Rental]
    warm_up_s: float | None = None

    @property
    def bound_here(self) -> str | None:
        return "target: the machine is rented and asked from this host"

    @asynccontextmanager
    async def open(self, directory: Path, argv: list[str]) -> AsyncIterator[OpenedMachine]:
        async with RentedSession(self.asked, self.rent(), directory, self.warm_up_s) as session:
            yield OpenedMachine(session)


class _Rented:
    fixed_machine = "a cloud gives the vCPUs and memory of the machine that was ordered"

    def tools(self, system: System) -> dict[str, str]:
        """Return nothing: what boots is elsewhere."""
        return {}

    def telling(self, system: System) -> None:
        """Return None: nobody asks a rented machine's shell."""

    def lacks(self, before: System, after: System) -> str | None:
        """Return why the machine cannot become another one."""
        return None if before == after else BOOTS_WHAT_IT_HAS

    def doubts(self, system: System) -> list[str]:
        """Return nothing: a rented machine has no virtual clock."""
        return []


class Ec2Target(_Rented):
    """An instance of EC2 for each boot."""

    def prepare(self, shop: Workshop, system: System, asked: BootRequest) -> RentedPrepared:
        """Say what a boot costs at most, and end what earlier ones left. Raises InputError above target.most_usd."""
        instance = system.target
        assert isinstance(instance, Ec2Instance)
        refuse_profile(asked)
        client = open_ec2(instance)
        cost = estimate(instance, 1, instance.lifetime_min * 60, client.meta.region_name)
        shop.tell(cost.words)
        if cost.usd is not None and cost.usd > instance.most_usd:
            raise InputError(f"target.most_usd: {cost.words}, and no more than {instance.most_usd:g} USD are allowed")
        with suppress(BootlabError):
            # Whoever may not list instances may still launch one; that is told by the launch.
            over = [one.name for one in find_instances(client) if one.is_over(datetime.now(UTC))]
            if over:
                shop.tell(f"terminating what earlier boots left: {', '.join(over)}")
                terminate(client, over)
        return RentedPrepared(
            system=system,
            files=NO_FILES,
            hashes={},
            sizes={},
            runs_on="ec2",
            console=ASKED,
            asked=instance,
            rent=lambda: Ec2Rental(instance, client),
            warm_up_s=system.booted.deadline_s if instance.boot == "later" else None,
        )


class CommandCloudTarget(_Rented):
    """A machine for each boot, by commands."""

    def prepare(self, shop: Workshop, system: System, asked: BootRequest) -> RentedPrepared:
        """Return what orders a machine. Raises InputError for a profile."""
        cloud = system.target
        assert isinstance(cloud, CommandCloud)
        refuse_profile(asked)
        return RentedPrepared(
            system=system,
            files=NO_FILES,
            hashes={},
            sizes={},
            runs_on="cloud",
            console=ASKED,
            asked=cloud,
            rent=lambda: CommandRental(cloud),
        )
