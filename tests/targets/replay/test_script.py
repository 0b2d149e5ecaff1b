"""Scripts of replays that are damaged, or say what cannot hold: each mistake is named by file and key."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.targets.replay.script import SCRIPT, read_script

ANSWER = 'boot = "ready-s1"\n[[answer]]\n'


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"\xff\xfe", ": byte 0 is not UTF-8"),
        (b"a = " + b"[" * 20000, ": nested too deeply"),
        (f"{ANSWER}later_ns = {'9' * 5000}".encode(), ": a number with more digits than any can have"),
        (f"{ANSWER}later_ns = {10**30}".encode(), ":answer.0.later_ns: Input should be less than"),
        (f"{ANSWER}later_ns = {-(10**30)}".encode(), ":answer.0.later_ns: Input should be greater than"),
        (f"{ANSWER}build_s = inf".encode(), ":answer.0.build_s: Input should be a finite number"),
        (f"{ANSWER}build_s = nan".encode(), ":answer.0.build_s: Input should be"),
        (f"{ANSWER}sizes = {{ kernel = -5 }}".encode(), ":answer.0.sizes.kernel: Input should be greater"),
        (f"{ANSWER}sizes = {{ kernel = {10**40} }}".encode(), ":answer.0.sizes.kernel: Input should be less"),
        (f"{ANSWER}when = {{ seed = 'a{{{'9' * 20}}}' }}".encode(), ":answer.0.when: seed: not a regular expression"),
        (f"{ANSWER}when = {{ seed = '{'(' * 5000}' }}".encode(), ":answer.0.when: seed: not a regular expression"),
        (f"{ANSWER}when = {{ 'kernel.cmdlin' = 'x' }}".encode(), ":answer.0.when: 'kernel.cmdlin' is no key of a"),
        (f"{ANSWER}when = {{ '' = 'x' }}".encode(), ":answer.0.when: '' is no key of a system file"),
        (f"{ANSWER}when = {{ 'seed.x' = 'x' }}".encode(), ":answer.0.when: 'seed.x' is no key of a system file"),
        (b'[answer]\nend = "hung"', ":boot: Field required"),
    ],
)
def test_each_mistake_is_named(text: bytes, complaint: str, tmp_path: Path) -> None:
    (tmp_path / SCRIPT).write_bytes(text)
    with pytest.raises(InputError) as caught:
        read_script(tmp_path)
    assert caught.value.message.startswith(f"{tmp_path / SCRIPT}{complaint}")
    assert caught.value.hint


@pytest.mark.parametrize("said", ["refused = 'no'", "unbuilt = 'no'", "build_s = 9", "sizes = { kernel = 7 }"])
def test_what_holds_before_a_seed_boots_cannot_depend_on_it(said: str, tmp_path: Path) -> None:
    (tmp_path / SCRIPT).write_text(f"{ANSWER}when = {{ seed = '1' }}\n{said}\n")
    with pytest.raises(InputError, match=f"answer.0: {said.split()[0]} holds for a system with every seed"):
        read_script(tmp_path)


@pytest.mark.parametrize("key", ["seed", "machine.memory_mib", "initramfs.compression", "kernel.build.options.SMP"])
def test_any_key_of_a_system_file_can_be_asked_for(key: str, tmp_path: Path) -> None:
    (tmp_path / SCRIPT).write_text(f"{ANSWER}when = {{ '{key}' = 'x' }}\n")
    assert read_script(tmp_path) is not None


def test_delays_that_add_up_beyond_one_answer(tmp_path: Path) -> None:
    """Each is as long as one may be; together they are longer, and no mistake of any."""
    most = 10**16
    (tmp_path / SCRIPT).write_text(f"{ANSWER}later_ns = {most}\n[[answer]]\nlater_ns = {most}\n")
    script = read_script(tmp_path)
    assert script is not None
    assert sum(one.later_ns for one in script.answer) == script._together(list(script.answer)).later_ns == 2 * most
