"""Two boots beside each other: lines are known again by their words, and the steps of a boot add up to its time."""

from bootlab.experiments.console_steps import POWER_ON, READY, SaidLine, said_lines, steps_between
from bootlab.profile.recorded.trace import parse_trace


def lines(*said: tuple[int, str]) -> list[SaidLine]:
    raw = "".join(f"{text}\r\n" for _, text in said).encode()
    records = "".join(f"console {t_ns} {t_ns} {len(text.encode()) + 2}\n" for t_ns, text in said)
    trace = parse_trace(f"bootlab-trace 1\nclock virtual 0\n{records}")
    return said_lines(raw, trace, 10**15)


def test_a_line_is_known_again_whatever_its_numbers_stamps_and_colours() -> None:
    (one,) = lines((5, "[    1.234567] systemd[1]: \x1b[0;32mStarted\x1b[0m User 0x7f of pid 431"))
    (other,) = lines((9, "[   12.000001][    T1] systemd[1]: Started User 0xabc of pid 9"))
    assert one.words == other.words and one.text == "systemd[1]: Started User 0x7f of pid 431"


def test_a_line_without_words_and_one_behind_the_end_are_left_out() -> None:
    said = [(1, "+----[SHA256]--+"), (2, "|  .+o  |"), (3, ""), (4, "login:")]
    assert [line.text for line in lines(*said)] == ["+----[SHA256]--+", "login:"]
    raw, trace = b"ab\ncd\n", parse_trace("bootlab-trace 1\nclock virtual 0\nconsole 1 1 3\nconsole 9 9 3\n")
    assert [line.text for line in said_lines(raw, trace, 5)] == ["ab"]


def test_steps_add_up_and_what_one_alone_said_is_named() -> None:
    first = lines((10, "kernel"), (30, "Generating public/private rsa key pair."), (90, "sshd up"), (95, "other"))
    later = lines((10, "kernel"), (25, "sshd up"))
    steps = steps_between([(first, 100), (later, 40)])
    assert [(step.after, step.until, step.took_ns) for step in steps] == [
        (POWER_ON, "kernel", (10, 10)),
        ("kernel", "sshd up", (80, 15)),
        ("sshd up", READY, (10, 15)),
    ]
    assert steps[1].alone == (("Generating public/private rsa key pair.",), ()) and steps[1].kinds == ["host keys"]
    assert steps[2].alone == (("other",), ()) and steps[2].kinds == []
    for boot, ready in enumerate((100, 40)):
        assert sum(step.took_ns[boot] for step in steps) == ready


def test_boots_with_nothing_in_common_are_one_step() -> None:
    (step,) = steps_between([(lines((1, "aaa")), 5), (lines((2, "bbb")), 7), ([], 3)])
    assert (step.after, step.until, step.took_ns, step.spread_ns) == (POWER_ON, READY, (5, 7, 3), 4)


def test_lines_in_another_order_cut_no_step() -> None:
    steps = steps_between([(lines((1, "aaa"), (2, "bbb")), 9), (lines((1, "bbb"), (2, "aaa")), 9)])
    assert len(steps) == 2 and all(sum(step.took_ns[boot] for step in steps) == 9 for boot in (0, 1))


def test_every_work_of_a_first_boot_is_known_by_its_words() -> None:
    said = [
        ("Initializing machine ID from random generator.", "machine-id"),
        ("EXT4-fs (vda1): resized filesystem to 524027", "growfs"),
        ("Cloud-init v. 22.4.2 running 'init-local'", "cloud-init"),
        ("Finished ssh-host-keys.service - ssh's host keys, when the machine boots first.", "host keys"),
        ("[  OK  ] Finished ssh-host-keys.service - s…keys, when the machine boots first.", "host keys"),
        ("         Starting sshd-keygen@rsa.service - OpenSSH rsa Server Key Generation...", "host keys"),
    ]
    for text, kind in said:
        (step,) = steps_between([(lines((1, text)), 5), ([], 5)])
        assert step.kinds == [kind]
