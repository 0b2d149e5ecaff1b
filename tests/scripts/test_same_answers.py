"""`scripts/same-answers` finds whatever two revisions answer otherwise, and tells what it sets aside."""

import copy
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup

from bootlab.cli.app import VERBS, read_verb
from scripts.same_answers.answers import MISSING, Answer, compare, rewritings, values_of
from scripts.same_answers.asking import ROOT, SAMPLES, CannotAsk, find_revision
from scripts.same_answers.questions import SYSTEMS, asked, patient, readings
from scripts.same_answers.run import choose, main

TRIED = json.loads((ROOT / "tests/data/report/try.json").read_text())
BOOT = {
    "ready_ns": 1718184463,
    "started": "2026-11-22T23:26:16+00:00",
    "wall_s": 16.9,
    "host": {"load_1_min": 2.9, "cores": 2},
    "hashes": {"initramfs": "fd296a75"},
    "run": "/c/same-answers/kept/14aa296f0ee0/runs/boot/0001-debian-cloud-boot/boots/1",
    "argv": [
        "unix:/tmp/bootlab-2eubedgq/qmp,server=on",
        "user,hostfwd=tcp:127.0.0.1:46729-:7777",
        f"/c/kernels/{'0' * 64}/vmlinuz",
    ],
}
OUTSIDE_THE_COMPARISON = {
    "runs gc": "says how old and how large runs are; tests/cli/runs/test_verb.py reads it",
    "cache list": "says how large a cache is and when it was used; tests/cli/cache/test_verb.py reads it",
    "cache gc": "says how large a cache is and when it was used; tests/cli/cache/test_verb.py reads it",
    "watch": "follows a serial line until it is stopped",
    "probe": "asks a machine that is there or not; tests/boot/machines/test_outside.py reads it",
    "ec2 bench": "launches instances; tests/boot/verbs/test_ec2.py reads it",
    "ec2 reap": "terminates instances; tests/boot/verbs/test_ec2.py reads it",
    "storm": "its times are those of the host; tests/boot/verbs/test_storm.py reads them",
    "doctor": "tells of this machine",
    "host fit": "there was none before, and it times this machine; tests/boot/machines/test_kvm_nested.py reads it",
    "examples": "tells where this checkout lies; tests/system/test_examples.py reads it",
    "build kernel": "part of tailor",
    "build rootfs": "part of audit-distribution",
    "build bootloader": "part of boot-board",
    "build image": "there was none before; tests/boot/machines/test_images.py boots what it makes",
    "snapshot": "there was none before; tests/boot/verbs/test_snapshots.py makes and restores some",
    "gate": "what it says is compare's; tests/cli/gate/test_verb.py reads it",
    "bisect": "what it says of two commits is the gate's; tests/cli/bisect/test_verb.py reads it",
    "apply": "there was none before; tests/cli/test_apply.py reads what it writes",
    "packages": "there was none before; tests/boot/verbs/test_packages.py reads what it says",
    "init convert": "writes files, and takes no --json",
    **{
        f"ledger {verb}": "keeps files for later versions to read; tests/cli/test_ledger.py reads them"
        for verb in ("add", "show", "log", "diff", "issues", "import", "publish")
    },
}


def answer(document: object) -> Answer:
    return Answer(0, json.dumps(document), "")


def changed(**keys: object) -> dict[str, Any]:
    return {**copy.deepcopy(BOOT), **keys}


def test_what_no_two_calls_have_alike_is_set_aside_and_counted() -> None:
    other = changed(
        started="2027-01-01T00:00:00+00:00",
        wall_s=99.0,
        host={"load_1_min": 0.1, "cores": 2},
        run="/c/same-answers/kept/0123456789ab/runs/boot/0001-debian-cloud-boot/boots/1",
        argv=[
            "unix:/tmp/bootlab-zzzz_zzz/qmp,server=on",
            "user,hostfwd=tcp:127.0.0.1:1-:7777",
            f"/c/kernels/{'f' * 64}/vmlinuz",
        ],
    )
    found = compare(answer(BOOT), answer(other), rewritings("/c"))
    assert found.differences == [] and found.inputs == []
    assert found.aside == {"time of day": 1, "seconds of the host": 1, "load of the host": 1}
    assert found.rewritten == dict.fromkeys((one.name for one in rewritings("/c")), 1)
    # The exit code, and the leaves of the document but three.
    assert found.compared == 1 + 10 - 3


def test_every_other_value_that_differs_is_found_with_its_path() -> None:
    found = compare(answer(TRIED), answer(reworded(TRIED)))
    values = {path: json.dumps(value) for path, value in values_of(answer(TRIED)) if path != "exit code"}
    inputs = {path for path in values if path.startswith("hashes.") or ".sizes." in path}
    assert len(values) > 300 and inputs
    assert found.differences == [(path, value, '"else"') for path, value in values.items() if path not in inputs]
    assert {path for path, _, _ in found.inputs} == inputs
    assert not found.aside


def reworded(document: Any) -> Any:
    """Return the document with every one of its values replaced."""
    if isinstance(document, dict) and document:
        return {key: reworded(value) for key, value in document.items()}
    if isinstance(document, list) and document:
        return [reworded(value) for value in document]
    return "else"


def test_a_figure_of_another_kind_is_another_value() -> None:
    for value in (1718184463.0, "1718184463", None, [1718184463]):
        assert compare(answer(BOOT), answer(changed(ready_ns=value))).differences


def test_a_key_on_one_side_alone_is_a_difference_whatever_it_tells() -> None:
    fewer = changed()
    del fewer["started"]
    assert compare(answer(BOOT), answer(fewer)).differences == [("started", json.dumps(BOOT["started"]), MISSING)]
    assert compare(answer(fewer), answer(BOOT)).differences == [("started", MISSING, json.dumps(BOOT["started"]))]


def test_a_unit_that_is_started_is_no_time_of_day() -> None:
    assert compare(answer({"started": True}), answer({"started": False})).differences == [("started", "true", "false")]


def test_what_a_profile_shows_after_ready_counts_only_on_record() -> None:
    before = {"account": {"ready": {"instructions": 1}, "whole": {"instructions": 5}}, "waits": {"waits": [{"ns": 1}]}}
    after = {"account": {"ready": {"instructions": 2}, "whole": {"instructions": 6}}, "waits": {"waits": []}}
    assert len(compare(answer(before), answer(after)).differences) == 4
    found = compare(answer(before), answer(after), host_ended=True)
    assert found.differences == [("account.ready.instructions", "1", "2")]
    assert found.aside == {"after ready, until the host ended the boot": 3}


def test_hashes_of_what_was_booted_are_listed_apart() -> None:
    found = compare(answer(BOOT), answer(changed(hashes={"initramfs": "00000000"})))
    assert found.differences == []
    assert found.inputs == [("hashes.initramfs", '"fd296a75"', '"00000000"')]


def test_paths_within_a_run_count() -> None:
    moved = changed(run="/c/same-answers/kept/14aa296f0ee0/runs/boot/0001-debian-cloud-boot/boots/2")
    ((path, _, after),) = compare(answer(BOOT), answer(moved), rewritings("/c")).differences
    assert path == "run" and after == '"<runs>/boot/0001-debian-cloud-boot/boots/2"'


def test_errors_and_text_are_compared_line_by_line() -> None:
    refused = Answer(2, "", "bootlab: error: x: no such file\n  hint: name one\n")
    assert compare(refused, refused).differences == []
    other = Answer(2, "", "bootlab: error: x: no such file\n  hint: none\n")
    assert [path for path, _, _ in compare(refused, other).differences] == ["error, line 2"]
    assert [path for path, _, _ in compare(answer({}), Answer(1, "{}", "")).differences] == ["exit code"]
    text = Answer(0, "ready 1718.18\nfirmware 16.33\n", "", form="text")
    slower = Answer(0, "ready 1718.19\nfirmware 16.33\n", "", form="text")
    assert compare(text, slower).differences == [("line 1", '"ready 1718.18"', '"ready 1718.19"')]


def test_every_verb_is_asked_or_has_a_reason() -> None:
    verbs = set()
    for name in VERBS:
        verb = read_verb(name)
        verbs |= {f"{name} {below}" for below in verb.commands} if isinstance(verb, TyperGroup) else {name}
    questions = asked(SAMPLES)
    words = [" ".join(one.words) for one in (*questions, *readings(questions))]
    missing = {verb for verb in verbs if not any(word.startswith(verb) for word in words)}
    assert missing == OUTSIDE_THE_COMPARISON.keys()


def test_a_run_that_is_read_was_left_by_a_question() -> None:
    questions = asked(SAMPLES)
    every = [*questions, *readings(questions)]
    names = [one.name for one in every]
    assert len(set(names)) == len(names)
    for n, one in enumerate(every):
        assert set(one.runs) <= set(names[:n])
    left = {name for one in readings(questions) for name in one.runs}
    assert {one.name for one in questions if one.boots} <= left


def test_a_busy_host_ends_no_boot_early() -> None:
    example = (ROOT / "examples/debian-cloud.toml").read_text()
    changed = [line for line in patient(example).splitlines() if line not in example.splitlines()]
    assert changed == ["deadline_s = 900", "deadline_s = 900"]
    for name, text in SYSTEMS.items():
        if name.endswith(".toml"):
            assert patient(text) == text


def test_only_a_name_in_full_asks_what_is_costly() -> None:
    questions = asked(SAMPLES)
    read = readings(questions)
    for only, costly, expected in (
        (["report boot*"], False, ["boot"]),
        (["report boot*"], True, ["boot", "boot-board"]),
        (["report boot-board"], False, ["boot-board"]),
    ):
        assert [one.name for one in choose(questions, read, only, costly=costly)[0]] == expected


def git(folder: Path, *words: str) -> None:
    settings = ["-c", "user.name=x", "-c", "user.email=x@example.invalid"]
    subprocess.run(["git", "-C", str(folder), *settings, *words], check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A project with all that the script uses of one: a module that answers, a plugin that builds, examples."""
    folder = tmp_path / "checkout"
    files = {
        "bootlab/__init__.py": "",
        "bootlab/__main__.py": 'print(\'{"saved_ns": 881870000, "layer": "kernel"}\')\n',
        "plugin/Makefile": "all:\n\ttrue\n",
        "examples/debian-cloud.toml": "",
        "tests/test_x.py": "",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def test_a_revision_is_known_by_what_can_decide_an_answer(checkout: Path) -> None:
    committed = find_revision("HEAD", checkout)
    assert find_revision(str(checkout)).key == committed.key
    (checkout / "tests/test_x.py").write_text("1\n")
    as_it_lies = find_revision(str(checkout))
    assert as_it_lies.key == committed.key and as_it_lies.tree != committed.tree
    (checkout / "bootlab/new.py").write_text("1\n")
    assert find_revision(str(checkout)).key != committed.key
    assert find_revision("HEAD", checkout) == committed
    with pytest.raises(CannotAsk, match="nonesuch"):
        find_revision("nonesuch", checkout)


def test_one_figure_changed_in_a_copy_fails_the_comparison(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BOOTLAB_CACHE", str(tmp_path / "cache"))
    copied = tmp_path / "copy"
    git(tmp_path, "clone", "-q", str(checkout), str(copied))
    pair = [str(checkout), str(copied), "--only", "techniques"]
    assert main(pair) == 0
    assert "nothing that decides an answer differs" in capsys.readouterr().out

    program = copied / "bootlab/__main__.py"
    program.write_text("# Reworded.\n" + program.read_text())
    assert main(pair) == 0
    assert "equal (3 values compared)\n1 answers equal, 0 different" in capsys.readouterr().out

    program.write_text(program.read_text().replace("881870000", "881870001"))
    assert main(pair) == 1
    assert "    saved_ns: 881870000 -> 881870001\n" in capsys.readouterr().out
    assert main([*pair, "--meant", "tech*"]) == 0
    assert "1 DIFFERENT" in capsys.readouterr().out

    program.write_text("raise SystemExit('no such thing')\n")
    assert main(pair) == 1
    assert "NO ANSWER after: exit code 1: no such thing" in capsys.readouterr().out
    assert not (tmp_path / "cache/same-answers/tree").exists()


def test_what_was_answered_is_not_asked_again(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BOOTLAB_CACHE", str(tmp_path / "cache"))
    calls = tmp_path / "calls"
    (checkout / "bootlab/__main__.py").write_text(f"print('{{}}'); open({str(calls)!r}, 'a').write('x')\n")
    for _ in range(2):
        assert main([str(checkout), "--collect", "--only", "techniques", "--only", "plans"]) == 0
    assert calls.read_text() == "xx"
    assert main([str(checkout), "--collect", "--only", "nonesuch"]) == 2
    assert "nonesuch: no such question" in capsys.readouterr().err
