"""[network]: who answers, and what only one of them can be told."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from bootlab.errors import InputError
from bootlab.system import Network, NetworkPeer, read_system
from tests.system.files import GOOD, write


def test_what_was_recorded_before_there_was_a_choice_is_the_same() -> None:
    plain = Network(guest_port=7777)
    assert plain.model_dump(mode="json") == {"guest_port": 7777}
    ours = Network.model_validate({"peer": "bootlab", "delay_us": 5})
    assert ours.peer is NetworkPeer.BOOTLAB
    assert ours.model_dump(mode="json") == {"guest_port": None, "peer": "bootlab", "delay_us": 5}
    assert Network.model_validate(ours.model_dump()) == ours


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"delay_us": 5}, 'delay_us is of peer = "bootlab"'),
        ({"probes": {"x": {"ping": True}}}, 'probes is of peer = "bootlab"'),
        ({"peer": "bootlab", "names": {"a": "10.0.0"}}, "Expected 4 octets"),
        ({"peer": "bootlab", "hostname": "-x"}, "is no host name"),
        ({"peer": "bootlab", "probes": {"a b": {"ping": True}}}, "is no mark's name"),
        ({"peer": "bootlab", "probes": {"x": {}}}, "exactly one of tcp"),
        ({"peer": "bootlab", "probes": {"x": {"ping": True, "tcp": 22}}}, "exactly one of tcp"),
        ({"peer": "bootlab", "probes": {"x": {"ping": True, "expect": "x"}}}, "of a TCP port"),
        ({"peer": "bootlab", "probes": {"x": {"tcp": 22, "send": "x"}}}, "send needs expect"),
        ({"peer": "bootlab", "probes": {"x": {"tcp": 22, "expect": "("}}}, "not a regular expression"),
        ({"peer": "bootlab", "probes": {"x": {"tcp": 22, "after": "x"}}}, "behind its own answer"),
        ({"peer": "bootlab", "probes": {"x": {"tcp": 22, "every_us": 5}}}, "greater than or equal to 100"),
    ],
)
def test_what_does_not_fit_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Network.model_validate(given)


def test_probes_need_the_virtual_clock(tmp_path: Path) -> None:
    asked = '[clock]\nkind = "wall"\n[network]\npeer = "bootlab"\n[network.probes.up]\nping = true\n'
    with pytest.raises(InputError, match="network.probes are asked at times of the virtual clock"):
        read_system(write(tmp_path, GOOD + asked))


def test_metadata_is_a_folder_beside_the_file(tmp_path: Path) -> None:
    text = GOOD + '[network]\npeer = "bootlab"\nmetadata = "metadata"\n'
    with pytest.raises(InputError, match="network.metadata: no such folder"):
        read_system(write(tmp_path, text))
    (tmp_path / "metadata").mkdir()
    system = read_system(write(tmp_path, text))
    assert system.network is not None and system.network.metadata == tmp_path / "metadata"
