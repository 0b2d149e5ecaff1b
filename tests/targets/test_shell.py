"""ShellQuestions to a shell: the script that asks them, run by a real one, and what is made of what came back."""

import asyncio
import re
import subprocess

import pytest

from bootlab.errors import BootFailed
from bootlab.system import ShellAccess
from bootlab.targets.shell import ShellQuestions, ask_by_command, read_answers

ACCESS = ShellAccess(command=("sh",), keeps={"words": "echo first; echo second", "silent": "true", "big": "seq 20000"})


def only_kept(access: ShellAccess) -> ShellQuestions:
    """Return the questions of the system file alone: what this host's kernel says is nobody's business."""
    return ShellQuestions(access.keeps, access)


def test_a_shell_is_asked_and_its_answers_come_whole() -> None:
    questions = only_kept(ACCESS)
    raw = asyncio.run(ask_by_command(questions))
    found = read_answers(questions, raw)
    assert found.said == {
        "words": b"first\nsecond\n",
        "big": b"".join(b"%d\n" % number for number in range(1, 20001)),
    }
    assert found.missing == {"silent": "it said nothing: no such tool there, or nothing to tell"}
    assert questions.end.search(raw) is not None


def test_without_gzip_they_come_as_they_are() -> None:
    questions = only_kept(ACCESS)
    script = questions.script.replace(b"command -v gzip", b"command -v nothing-such")
    raw = subprocess.run(["sh"], input=script, stdout=subprocess.PIPE, check=True).stdout
    assert read_answers(questions, raw).said["words"] == b"first\nsecond\n"


def test_every_profile_asks_for_the_kernels_log() -> None:
    assert list(ShellQuestions.of(ACCESS).commands) == ["dmesg", "systemd-show", "systemd-plot", "trace", *ACCESS.keeps]


def test_what_a_console_says_in_between_and_what_is_cut_off_is_named() -> None:
    questions = only_kept(ACCESS)
    raw = asyncio.run(ask_by_command(questions))
    head = re.compile(rb"bootlab-packed-\w+ words\n")
    found = read_answers(questions, head.sub(lambda part: part[0] + b"[   9.1] usb 1-1: new device\n", raw))
    assert "words: the answer is damaged, other lines of the console may be in it" in f"words: {found.missing['words']}"
    assert set(found.said) == {"big"}
    cut = read_answers(questions, raw[: raw.rindex(b"bootlab-end")])
    assert cut.missing["big"] == "the answer was cut off" and set(cut.said) == {"words"}
    assert set(read_answers(questions, b"").missing.values()) == {"no answer came"}


def test_an_answer_that_unpacks_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bootlab.targets.shell.MOST_BYTES", 1 << 16)
    questions = only_kept(ShellAccess(command=("sh",), keeps={"zeros": "head -c 300000 /dev/zero"}))
    found = read_answers(questions, asyncio.run(ask_by_command(questions)))
    assert found.said == {} and "more than" in found.missing["zeros"]


def test_a_machine_that_answers_what_nobody_asked_gets_no_file_of_that_name() -> None:
    questions = only_kept(ACCESS)
    raw = asyncio.run(ask_by_command(questions)).replace(b" words\n", b" record.json\n")
    found = read_answers(questions, raw)
    assert set(found.said) == {"big"} and found.missing["words"] == "no answer came"


def test_a_command_that_fails_is_named() -> None:
    questions = only_kept(ShellAccess(command=("sh", "-c", "echo no route to host >&2; exit 255")))
    with pytest.raises(BootFailed, match=r"target\.shell\.command: sh: exit status 255\n  no route to host"):
        asyncio.run(ask_by_command(questions))
