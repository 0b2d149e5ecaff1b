"""`--cluster`: every form, what is no address, and what would let strangers in."""

import json
from pathlib import Path

import pytest

from bootlab.cluster.address import LocalWorkers, RunningScheduler, is_loopback, parse_cluster
from bootlab.errors import InputError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("local:1", LocalWorkers(1)),
        ("local:256", LocalWorkers(256)),
        ("tcp://127.0.0.1:8786", RunningScheduler("tcp://127.0.0.1:8786")),
        ("tcp://127.8.8.8:8786/", RunningScheduler("tcp://127.8.8.8:8786")),
        ("tcp://[::1]:8786", RunningScheduler("tcp://[::1]:8786")),
        ("tcp://localhost:1", RunningScheduler("tcp://localhost:1")),
        ("tls://farm.example:8786", RunningScheduler("tls://farm.example:8786")),
    ],
)
def test_forms(text: str, expected: object) -> None:
    assert parse_cluster(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "local", "local:", "local:0", "local:257", "local:-1", "local:two", "local:99999", "farm", "http://a:1",
     "tcp://127.0.0.1", "tcp://127.0.0.1:0", "tls://farm:65536", "tls://:1", "tls://a b:1", "tcp://127.0.0.1:1/x",
     "scheduler-file:", "scheduler-file:/nowhere/at/all", "\0"],
)  # fmt: skip
def test_what_is_no_address_is_refused_by_name(text: str) -> None:
    with pytest.raises(InputError, match="--cluster") as raised:
        parse_cluster(text)
    assert raised.value.hint


@pytest.mark.parametrize("text", ["tcp://0.0.0.0:8786", "tcp://192.0.2.1:8786", "tcp://[::]:8786"])
def test_what_others_reach_has_to_be_tls_and_the_error_makes_a_certificate(text: str) -> None:
    with pytest.raises(InputError, match="has to be TLS") as raised:
        parse_cluster(text)
    assert raised.value.hint is not None and raised.value.hint.startswith("openssl req ")
    assert not is_loopback(text)


def test_a_scheduler_file_names_the_address_and_is_held_to_the_same(tmp_path: Path) -> None:
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({"address": "tcp://127.0.0.1:8786", "workers": {}}))
    assert parse_cluster(f"scheduler-file:{file}") == RunningScheduler("tcp://127.0.0.1:8786")
    for content, said in (
        ('{"address": "tcp://192.0.2.1:8786"}', "has to be TLS"),
        ('{"address": 5}', "no address"),
        ("[]", "no address"),
        ('{"address": "somewhere"}', "says 'somewhere'"),
        ("{", "scheduler-file"),
        ("", "scheduler-file"),
    ):
        file.write_text(content)
        with pytest.raises(InputError, match=said):
            parse_cluster(f"scheduler-file:{file}")
