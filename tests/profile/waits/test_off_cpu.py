"""When a task was off its CPU, why, and since when it only lacked one: switches and wake-ups made by hand."""

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.reader import parse_profile
from bootlab.profile.recorded.record_types import NONE, SwitchFlag
from bootlab.profile.waits.off_cpu import Reason, find_off_cpu
from tests.profile.conftest import ProfileWriter

# task, start, woken, end, wake, reason, open
Row = tuple[int, int, int, int, int, Reason, bool]


class Boot(ProfileWriter):
    """A boot whose switches and wake-ups are said by time; the idle task is 0, `first` is 1 and `second` is 2."""

    def __init__(self) -> None:
        super().__init__()
        for name, pid in (("swapper/0", 0), ("first", 11), ("second", 12)):
            self.task(name, pid)

    def until(self, t_ns: int) -> None:
        """Let whoever has the CPU run on up to a time."""
        self.spend("swapper/0-0;work", t_ns - self.t_ns)

    def at(self, t_ns: int, previous: int, then: int, flags: int = SwitchFlag.SLEEPS, vcpu: int = 0) -> None:
        """Switch from one task to another."""
        self.until(t_ns)
        self.switch(previous, then, f"{('swapper/0-0', 'first-11', 'second-12')[previous]};schedule", flags, vcpu)

    def woken_at(self, t_ns: int, task: int) -> None:
        """Wake a task up."""
        self.until(t_ns)
        self.wake(task, 0, "swapper/0-0;try_to_wake_up")

    def ended_at(self, t_ns: int) -> Profile:
        """Return the profile of a boot that ended then."""
        self.until(t_ns)
        return parse_profile(self.end(), self.functions, 0)


def rows(profile: Profile, *, new: bool = False) -> list[Row]:
    """Return the rows in short, those of new tasks only where they are asked for."""
    fields = ("task", "start_ns", "woken_ns", "end_ns", "wake", "reason", "open")
    found = [(*row[:5], Reason(row[5]), row[6]) for row in find_off_cpu(profile)[list(fields)].tolist()]
    return [row for row in found if new or row[5] is not Reason.NEW]


def test_a_sleeper_waits_until_it_is_woken_and_then_lacks_a_cpu() -> None:
    boot = Boot()
    boot.at(100, 1, 0)
    boot.woken_at(160, 1)
    boot.at(190, 0, 1, 0)
    assert rows(boot.ended_at(200)) == [(1, 100, 160, 190, 0, Reason.SLEEP, False)]


def test_where_it_left_off_is_kept() -> None:
    boot = Boot()
    boot.at(100, 1, 0)
    profile = boot.ended_at(200)
    assert profile.path(int(find_off_cpu(profile)["node"][0])) == ["first-11", "schedule"]


def test_who_was_put_off_its_cpu_waits_for_nothing() -> None:
    """A wake-up meanwhile changes nothing: it could run all along."""
    boot = Boot()
    boot.at(100, 1, 2, 0)
    boot.woken_at(160, 1)
    boot.at(190, 2, 1)
    assert rows(boot.ended_at(200))[0] == (1, 100, 100, 190, -1, Reason.PREEMPTED, False)


def test_the_first_wake_up_after_it_left_ends_a_sleep() -> None:
    boot = Boot()
    boot.woken_at(90, 1)
    boot.at(100, 1, 0)
    boot.woken_at(130, 2)
    boot.woken_at(160, 1)
    boot.woken_at(170, 1)
    boot.at(190, 0, 1, 0)
    boot.woken_at(195, 1)
    assert rows(boot.ended_at(200)) == [(1, 100, 160, 190, 2, Reason.SLEEP, False)]


def test_a_wake_up_at_the_very_moment_counts() -> None:
    boot = Boot()
    boot.at(100, 1, 0)
    boot.woken_at(100, 1)
    boot.at(190, 0, 1, 0)
    boot.at(300, 1, 0)
    boot.at(400, 0, 1, 0)
    boot.woken_at(400, 1)
    assert rows(boot.ended_at(500)) == [
        (1, 100, 100, 190, 0, Reason.SLEEP, False),
        (1, 300, 400, 400, 1, Reason.SLEEP, False),
    ]


def test_a_wake_up_while_it_was_on_its_way_out_is_not_found() -> None:
    """On another CPU, say: then the whole stretch counts as sleep, and nobody ended it."""
    boot = Boot()
    boot.woken_at(95, 1)
    boot.at(100, 1, 0)
    boot.at(190, 0, 1, 0)
    boot.woken_at(195, 1)
    assert rows(boot.ended_at(200)) == [(1, 100, 190, 190, -1, Reason.SLEEP, False)]


def test_what_is_open_at_the_end_lasts_to_it() -> None:
    boot = Boot()
    boot.at(100, 1, 2)
    boot.at(150, 2, 0)
    boot.woken_at(160, 2)
    assert rows(boot.ended_at(200)) == [
        (1, 100, 200, 200, -1, Reason.SLEEP, True),
        (2, 150, 160, 200, 0, Reason.SLEEP, True),
    ]


def test_each_stretch_ends_with_the_next_switch_to_its_task() -> None:
    boot = Boot()
    boot.at(100, 1, 2)
    boot.at(150, 2, 1)
    boot.at(170, 1, 2)
    boot.at(190, 2, 0)
    assert [row[:4] for row in rows(boot.ended_at(200))] == [
        (1, 100, 150, 150),
        (2, 150, 170, 170),
        (1, 170, 200, 200),
        (2, 190, 200, 200),
    ]


def test_who_is_gone_or_idle_or_goes_on_is_not_off_its_cpu() -> None:
    boot = Boot()
    boot.at(100, 1, 0, SwitchFlag.DEAD)
    boot.at(150, 0, 2, 0)
    boot.at(170, 2, 2, 0)
    assert rows(boot.ended_at(200)) == []


def test_a_task_that_is_not_known_has_no_row() -> None:
    """Nor has the task of number 0 in its place, which is no idle task where the profile began late."""
    writer = ProfileWriter()
    task = writer.task("init", 1)
    writer.spend("init-1;work", 10)
    writer.switch(NONE, task, "init-1;schedule", 0)
    writer.spend("init-1;work", 10)
    assert rows(parse_profile(writer.end(), writer.functions, 0)) == []


def test_a_new_task_that_ran_at_once_waited_for_nothing() -> None:
    boot = Boot()
    boot.until(50)
    made = boot.task("third", 13, 1)
    boot.at(50, 1, made, 0)
    boot.spend("third-13;run", 5)
    assert [row[0] for row in rows(boot.ended_at(200), new=True) if row[5] is Reason.NEW] == []


def test_a_new_task_waits_for_its_first_run_from_when_it_was_made() -> None:
    boot = Boot()
    boot.until(50)
    made = boot.task("third", 13, 1)
    boot.at(80, 1, made, 0)
    boot.spend("third-13;ret_from_fork", 20)
    profile = boot.ended_at(200)
    assert rows(profile, new=True)[0] == (made, 50, 50, 80, -1, Reason.NEW, False)
    assert profile.path(int(find_off_cpu(profile)["node"][0])) == ["third-13"]


def test_a_new_task_that_never_ran_or_was_there_first_has_no_such_row() -> None:
    """Of `first` the leaving is seen before any coming, so it ran when the profile began."""
    boot = Boot()
    boot.task("never", 13, 1)
    boot.at(100, 1, 0)
    boot.at(190, 0, 1, 0)
    assert [row[0] for row in rows(boot.ended_at(200), new=True) if row[5] is Reason.NEW] == []


def test_a_new_tasks_root_is_found_by_where_it_left_off_when_its_name_is_not_known() -> None:
    """A thread that is named anew before it has run a whole stack has its roots under other names."""
    boot = Boot()
    made = boot.task("kthreadd", 13, 1)
    boot.at(80, 1, made, 0)
    boot.until(120)
    boot.switch(made, 0, "renamed-13;kthread;schedule")
    profile = boot.ended_at(200)
    new = find_off_cpu(profile)
    new = new[new["reason"] == Reason.NEW]
    assert [profile.path(int(node)) for node in new["node"]] == [["renamed-13"]]


def test_rows_are_in_the_order_they_began_and_cannot_be_changed() -> None:
    """`second` and the third were there at 0 and had not run yet; they are found after those who left."""
    boot = Boot()
    made = boot.task("third", 13, 1)
    boot.at(100, 1, 2)
    boot.at(150, 2, made)
    boot.spend("third-13;run", 5)
    found = find_off_cpu(boot.ended_at(200))
    assert found["start_ns"].tolist() == [0, 0, 100, 150]
    assert not found.flags.writeable, "it is kept for who asks again"


def test_without_a_switch_nobody_left_a_cpu() -> None:
    assert rows(Boot().ended_at(10), new=True) == []
