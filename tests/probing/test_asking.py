"""Which question of a probe an answer belongs to, and the account of what was never sent."""

import socket

from bootlab.probing.asking import AskingAccount, Rounds, Sockets, send
from bootlab.probing.questions import OutsideAnswer


def test_an_answer_is_known_by_its_question() -> None:
    rounds = Rounds()
    first, second = rounds.ask(), rounds.ask()
    assert rounds.since_ns(first) is None
    asked_ns = rounds.since_ns(second)
    assert asked_ns is not None and rounds.knows(second) and not rounds.knows(9)
    assert rounds.last_before(asked_ns) is None and rounds.last_before(asked_ns + 10**9) == asked_ns


def test_old_questions_are_forgotten() -> None:
    rounds = Rounds()
    last = [rounds.ask() for _ in range(5000)][-1]
    assert rounds.knows(last) and not rounds.knows(0)


def test_a_name_is_answered_once_and_what_is_not_sent_is_counted() -> None:
    heard: list[OutsideAnswer] = []
    account = AskingAccount(heard.append)
    for t_ns in (5, 9):
        account.answer("ping", t_ns, None, "")
    assert [one.t_ns for one in heard] == [5]
    line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    line.close()
    send(line, account, b"x")
    assert sum(account.unsent.values()) == 1


def test_a_socket_that_another_one_has_closed_is_not_taken() -> None:
    sockets, taken = Sockets(), []
    one, other = socket.socketpair()
    two, another = socket.socketpair()

    def take(name: str) -> None:
        taken.append(name)
        for line in (one, two):
            sockets.forget(line)

    sockets.watch(one, lambda: take("one"))
    sockets.watch(two, lambda: take("two"))
    other.send(b"x")
    another.send(b"x")
    sockets.wait(1)
    assert len(taken) == 1
    sockets.close()
