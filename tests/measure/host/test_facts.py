"""Host facts: there, JSON-ready, and silent about the machine's name."""

import json
import platform
import socket
from pathlib import Path

import pytest

from bootlab.errors import MissingTool
from bootlab.measure.host.facts import host_facts, qemu_version


def fake_qemu(folder: Path, first_line: str) -> Path:
    program = folder / "qemu-system-x86_64"
    program.write_text(f"#!/bin/sh\necho '{first_line}'\necho 'Copyright'\n")
    program.chmod(0o755)
    return program


def test_facts_are_json_and_complete(tmp_path: Path) -> None:
    qemu = fake_qemu(tmp_path, "QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2+deb13u1)")
    facts = host_facts(qemu=qemu, kvm="works")
    assert json.loads(json.dumps(facts)) == facts
    assert facts["qemu"] == "10.0.2 (Debian 1:10.0.2+ds-2+deb13u1)"
    assert facts["kvm"] == "works"
    assert facts["kernel"] == platform.release()
    assert facts["cores"] >= 1 and facts["memory_mib"] > 16 and facts["load_1_min"] >= 0
    assert set(facts) >= {"cpu_model", "governor", "distribution", "machine"}
    assert str(tmp_path) not in json.dumps(facts)
    assert not any(value == socket.gethostname() for value in facts.values())


def test_no_qemu_is_said_so() -> None:
    assert host_facts(qemu=None, kvm="no device")["qemu"] is None


def test_version_without_a_packager(tmp_path: Path) -> None:
    assert qemu_version(fake_qemu(tmp_path, "QEMU emulator version 9.2.0")) == "9.2.0"


def test_a_missing_qemu_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingTool, match="program not found"):
        qemu_version(tmp_path / "qemu-system-none")
