"""EC2's API through boto3, and its errors in words that say what to do. Credentials are the standard chain's alone."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from bootlab.errors import BootFailed, BootlabError, InputError, MissingTool

_ATTEMPTS: Final = 8
"""Of one call that is throttled or finds nobody; boto3 waits longer from one to the next, 20 s at most."""
_REFUSED = {"UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "OptInRequired", "Blocked"}
_NOT_KNOWN = {"AuthFailure", "InvalidClientTokenId", "UnrecognizedClientException", "ExpiredToken", "RequestExpired"}
_FULL = {
    "InsufficientInstanceCapacity",
    "InsufficientHostCapacity",
    "InstanceLimitExceeded",
    "VcpuLimitExceeded",
    "MaxSpotInstanceCountExceeded",
    "InsufficientFreeAddressesInSubnet",
}
_TOO_OFTEN = {"RequestLimitExceeded", "Throttling", "ThrottlingException"}
GONE: Final = "InvalidInstanceID.NotFound"


class NoSuchInstance(BootFailed):
    """EC2 knows no instance of this id: not yet, or no more."""


def open_client(service: str, region: str | None, profile: str | None) -> Any:
    """Return a client of one of Amazon's services. Raises MissingTool without boto3, InputError without a region."""
    try:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError
    except ImportError as error:
        raise MissingTool("boto3: the Python package is not here", hint="pip install 'bootlab[ec2]'") from error
    retries = {"mode": "standard", "total_max_attempts": _ATTEMPTS}
    config = Config(retries=retries, connect_timeout=10, read_timeout=60, user_agent_extra="bootlab")
    try:
        return boto3.Session(profile_name=profile, region_name=region).client(service, config=config)
    except BotoCoreError as error:
        raise InputError(
            f"ec2: {error}", hint='target.region = "eu-central-1", or AWS_REGION; profiles are in ~/.aws/config'
        ) from error


@contextmanager
def saying(call: str) -> Iterator[None]:
    """Turn what a call of the API raises into an error for a user. Raises InputError, BootFailed, NoSuchInstance."""
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, ParamValidationError

    try:
        yield
    except ClientError as error:
        raise _refusal(call, error.response.get("Error", {})) from error
    except ParamValidationError as error:
        raise InputError(f"target.launch: {error}", hint="its keys are those of EC2's RunInstances") from error
    except NoCredentialsError as error:
        raise InputError(
            f"ec2: {call}: no credentials in the standard chain",
            hint="AWS_PROFILE, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or aws configure; never in a system file",
        ) from error
    except BotoCoreError as error:
        raise BootFailed(f"ec2: {call}: {error}", hint="is the network there, and the region right?") from error


def _refusal(call: str, told: dict[str, Any]) -> BootlabError:
    code = str(told.get("Code", "unknown"))
    # What is not allowed comes with a kilobyte that only Amazon can read.
    words = re.sub(r"\s*Encoded authorization failure message:.*", "", str(told.get("Message", "")), flags=re.DOTALL)
    text = f"ec2: {call}: {words.strip()[:500]} ({code})"
    if code == GONE:
        return NoSuchInstance(text, hint="somebody else has terminated it, or it is of another region")
    if code in _REFUSED:
        return BootFailed(text, hint="docs/outside.md lists the few actions that a policy must allow")
    if code in _NOT_KNOWN:
        return BootFailed(text, hint="credentials are wrong or have run out: aws sts get-caller-identity says whose")
    if code in _FULL:
        return BootFailed(text, hint="another zone (SubnetId), another InstanceType, a higher quota, or later")
    if code in _TOO_OFTEN:
        return BootFailed(text, hint=f"throttled {_ATTEMPTS} times in a row: ask less often (target.poll_ms), or later")
    return BootFailed(text)
