"""One instance of EC2, from RunInstances to terminated; and the instances that others have left.

An instance has its tags from its first moment, so it can be found by them whatever became of who launched it:

    bootlab         boot
    bootlab:run     the token of its boot
    bootlab:until   when it is to be gone, UTC, as 2026-01-31T12:00:00+00:00
"""

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from bootlab.clouds.ec2_client import NoSuchInstance, open_client, saying
from bootlab.clouds.rental import Rented
from bootlab.errors import BootFailed
from bootlab.system import Ec2Instance

TAG: Final = "bootlab"
TAG_RUN: Final = "bootlab:run"
TAG_UNTIL: Final = "bootlab:until"
_ALIVE: Final = ("pending", "running", "stopping", "stopped")
_UNKNOWN_YET_S: Final = 30.0
"""So long EC2 may not know an instance that it has just made."""
_STOPPED_S: Final = 600.0


@dataclass(frozen=True, slots=True)
class FoundInstance:
    """An instance with bootlab's tag. `until`: when it is to be gone; None where its tag says nothing readable."""

    name: str
    state: str
    kind: str
    launched: str
    until: datetime | None
    run: str

    def is_over(self, now: datetime) -> bool:
        """Return whether its time is over; that of one whose tag is damaged is."""
        return self.until is None or self.until <= now


class Ec2Rental:
    """One instance for one boot."""

    def __init__(self, asked: Ec2Instance, client: Any) -> None:
        self._asked = asked
        self._client = client
        self._token = uuid.uuid4().hex
        self._name: str | None = None
        self._ordered_s = 0.0
        self._seen = False

    @property
    def poll_s(self) -> float:
        return self._asked.poll_ms / 1000

    @property
    def guard(self) -> dict[str, Any]:
        return {"kind": "ec2", "region": self._client.meta.region_name, "profile": self._asked.profile,
                "token": self._token}  # fmt: skip

    def order(self) -> str:
        self._ordered_s = time.monotonic()
        if self._name is not None:
            with saying("StartInstances"):
                self._client.start_instances(InstanceIds=[self._name])
            return self._name
        with saying("RunInstances"):
            made = self._client.run_instances(**run_words(self._asked, self._token))
        self._name = str(made["Instances"][0]["InstanceId"])
        return self._name

    def look(self) -> Rented:
        assert self._name is not None
        try:
            with saying("DescribeInstances"):
                found = self._client.describe_instances(InstanceIds=[self._name])
            instance = found["Reservations"][0]["Instances"][0]
        except (NoSuchInstance, IndexError, KeyError):
            if not self._seen and time.monotonic() - self._ordered_s < _UNKNOWN_YET_S:
                return Rented(False)
            return Rented(False, ended=f"instance {self._name} has vanished: EC2 knows it no more")
        self._seen = True
        state = str(instance["State"]["Name"])
        if state in ("shutting-down", "terminated"):
            why = instance.get("StateReason", {}).get("Message") or instance.get("StateTransitionReason") or "no reason"
            return Rented(False, ended=f"instance {self._name} is {state}: {why}")
        if state == "stopped" and time.monotonic() - self._ordered_s > _UNKNOWN_YET_S:
            return Rented(False, ended=f"instance {self._name} has stopped")
        return Rented(state == "running", _address(instance, self._asked.address))

    def restart(self) -> None:
        with saying("StopInstances"):
            self._client.stop_instances(InstanceIds=[self._name])
        until_s = time.monotonic() + _STOPPED_S
        while time.monotonic() < until_s:
            with saying("DescribeInstances"):
                found = self._client.describe_instances(InstanceIds=[self._name])
            if found["Reservations"][0]["Instances"][0]["State"]["Name"] == "stopped":
                return
            time.sleep(max(1.0, self.poll_s))
        raise BootFailed(f"ec2: instance {self._name} has not stopped in {_STOPPED_S:g} s")

    def console(self) -> bytes:
        if self._name is None:
            return b""
        with saying("GetConsoleOutput"):
            told = self._client.get_console_output(InstanceId=self._name)
        # boto3 has undone its base 64.
        return str(told.get("Output") or "").encode()

    def end(self) -> None:
        end_run(self._client, self._token, self._name)


def run_words(asked: Ec2Instance, token: str, *, dry_run: bool = False) -> dict[str, Any]:
    """Return what RunInstances is called with: the user's words, one instance, its tags, and that it ends for good."""
    until = datetime.now(UTC) + timedelta(minutes=asked.lifetime_min)
    tags = {TAG: "boot", TAG_RUN: token, TAG_UNTIL: until.isoformat(timespec="seconds"), "Name": f"bootlab-{token[:8]}"}
    return {
        # A machine that switches itself off is gone, instead of kept.
        "InstanceInitiatedShutdownBehavior": "terminate",
        **asked.launch,
        "MinCount": 1,
        "MaxCount": 1,
        "ClientToken": token,
        "DryRun": dry_run,
        "TagSpecifications": [
            {"ResourceType": kind, "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}
            for kind in ("instance", "volume")
        ],
    }


def try_launch(asked: Ec2Instance, client: Any) -> str:
    """Ask EC2 whether it would launch the instance, without launching it; returns its words. Raises as a launch."""
    from botocore.exceptions import ClientError

    with saying("RunInstances"):
        try:
            client.run_instances(**run_words(asked, uuid.uuid4().hex, dry_run=True))
        except ClientError as error:
            told = error.response.get("Error", {})
            if told.get("Code") == "DryRunOperation":
                return str(told.get("Message", ""))
            raise
    raise BootFailed("ec2: RunInstances: EC2 took a trial for an order: bootlab ec2 reap --all ends what it made")


def find_instances(client: Any, token: str | None = None) -> list[FoundInstance]:
    """Return the instances of this region that carry bootlab's tag and are not gone, of one run or of all."""
    filters = [
        {"Name": "tag:" + TAG, "Values": ["boot"]},
        {"Name": "instance-state-name", "Values": list(_ALIVE)},
        *([{"Name": "tag:" + TAG_RUN, "Values": [token]}] if token is not None else []),
    ]
    found = []
    with saying("DescribeInstances"):
        for page in client.get_paginator("describe_instances").paginate(Filters=filters):
            found += [one for many in page["Reservations"] for one in many["Instances"]]
    return [_found(one) for one in found]


def terminate(client: Any, names: Sequence[str]) -> None:
    """Terminate instances; those that are gone already are no error. Raises BootFailed."""
    for name in names:
        # One call each: of several, one that is unknown keeps the others alive.
        try:
            with saying("TerminateInstances"):
                client.terminate_instances(InstanceIds=[name])
        except NoSuchInstance:
            continue


def end_run(client: Any, token: str, name: str | None = None) -> list[str]:
    """Terminate all that was launched for one boot, and return their ids; `name` also where its tag is not seen yet."""
    names = [one.name for one in find_instances(client, token)]
    names += [name] if name is not None and name not in names else []
    terminate(client, names)
    return names


def _found(instance: dict[str, Any]) -> FoundInstance:
    tags = {str(tag["Key"]): str(tag["Value"]) for tag in instance.get("Tags", [])}
    try:
        until = datetime.fromisoformat(tags.get(TAG_UNTIL, ""))
        until = until if until.tzinfo is not None else until.replace(tzinfo=UTC)
    except ValueError:
        until = None
    return FoundInstance(
        name=str(instance["InstanceId"]),
        state=str(instance["State"]["Name"]),
        kind=str(instance.get("InstanceType", "")),
        launched=str(instance.get("LaunchTime", "")),
        until=until,
        run=tags.get(TAG_RUN, ""),
    )


def _address(instance: dict[str, Any], which: str) -> str | None:
    key = {"public": "PublicIpAddress", "private": "PrivateIpAddress", "ipv6": "Ipv6Address"}[which]
    if which == "ipv6" and not instance.get(key):
        cards = instance.get("NetworkInterfaces", [])
        found = [one["Ipv6Address"] for card in cards for one in card.get("Ipv6Addresses", [])]
        return str(found[0]) if found else None
    return str(instance[key]) if instance.get(key) else None


def open_ec2(asked: Ec2Instance) -> Any:
    """Return the client of EC2 that a system file asks for. Raises as `open_client`."""
    return open_client("ec2", asked.region, asked.profile)
