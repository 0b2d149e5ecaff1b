"""A machine of a cloud of four commands: ordered, asked, deleted; and deleted also where something fails."""

import socket
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import read_system


def boot_cloud(folder: Path, port: int, deadline_s: float = 20, **commands: str) -> BootRecord:
    """Boot on a cloud that is a folder: a file for each machine, its address this host's own."""
    given = {
        "create": f"touch {folder}/$BOOTLAB_NAME; echo create >>{folder}/calls",
        "address": f"sleep 0.1; [ -e {folder}/$BOOTLAB_NAME ] && echo 127.0.0.1",
        "console": "echo 'Linux version 6.12'",
        "delete": f"rm -f {folder}/$BOOTLAB_NAME; echo delete >>{folder}/calls",
        **commands,
    }
    lines = "\n".join(f"{key} = {text!r}" for key, text in given.items())
    (folder / "cloud.toml").write_text(
        f'[target]\nkind = "cloud"\nports = [{port}]\nping = false\npoll_ms = 50\n{lines}\n'
        f'[booted]\nmark = "port_{port}_open"\ndeadline_s = {deadline_s}\n'
    )
    (folder / "boot").mkdir()
    return boot(prepare(Workshop(Cache(folder / "cache")), read_system(folder / "cloud.toml")), folder / "boot")


def test_a_machine_is_made_asked_and_deleted(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        record = boot_cloud(tmp_path, int(server.getsockname()[1]))
    assert record.outcome is Outcome.READY, record.detail
    assert list(record.marks)[:3] == ["power_on", "launched", "running"]
    assert [phase.name for phase in record.phases][:2] == ["order", "pending to running"]
    # What its console said was said at no time that is known.
    assert (tmp_path / "boot" / "instance-console.log").read_text() == "Linux version 6.12\n"
    assert "kernel_banner" not in record.marks
    assert (tmp_path / "calls").read_text().split() == ["create", "delete"]


@pytest.mark.parametrize(
    ("commands", "outcome", "words"),
    [
        ({"create": "echo quota exceeded >&2; exit 1"}, Outcome.NOT_STARTED, "target.create: sh: exit status 1"),
        ({"address": "exit 1"}, Outcome.HUNG, "answered so far: launched"),
        ({"console": "exit 4"}, Outcome.READY, ""),
    ],
)
def test_it_is_deleted_whatever_fails(commands: dict[str, str], outcome: Outcome, words: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        record = boot_cloud(tmp_path, int(server.getsockname()[1]), 3, **commands)
    assert record.outcome is outcome and words in record.detail
    assert (tmp_path / "calls").read_text().split()[-1] == "delete"


def test_one_that_cannot_be_deleted_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        # The guardian goes on trying where bootlab has given up.
        delete = f"echo x >>{tmp_path}/tried; [ $(wc -l <{tmp_path}/tried) -gt 6 ]"
        record = boot_cloud(tmp_path, int(server.getsockname()[1]), delete=delete)
    assert "the machine may still run: target.delete" in record.detail
