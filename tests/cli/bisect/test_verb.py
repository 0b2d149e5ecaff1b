"""`bootlab bisect` on recorded boots, in real git repositories: what is found, with how many builds and boots."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.cli.app import run
from bootlab.errors import BootFailed, InputError, Interrupted
from bootlab.experiments.store import Store
from tests.build.conftest import LocalArchive
from tests.ledger.bisect.repository import Repository, subjects
from tests.replayed import Answer, answer, replayed
from tests.targets.replay.record_boots import SMALL


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BOOTLAB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_one_step_among_64_takes_8_builds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = Repository(tmp_path, later_us={41: 1000}, commits=65)
    code, found = made.bisect(*made.ends(0))
    assert (code, subjects(found["steps"])) == (0, [("change 41", 1000)])
    assert found["builds"] == 8 and found["unexplained_ns"] == 0
    (step,) = found["steps"]
    assert (step["kind"], step["verdict"], step["share"]) == ("commit", "longer", 1.0)
    assert step["after"]["name"] == made.at(41) and step["after"]["author"] == "Ada Example <ada@example.org>"
    # Families of both ends and of both sides of the step, one boot of every other.
    assert found["boots"] == 4 * 8 + 4
    said = " ".join(capsys.readouterr().out.split())
    assert "change 41" in said and "Ada Example" in said
    assert "cancel each other are not looked for" in said


def test_two_steps_are_told_apart_each_with_its_share(tmp_path: Path) -> None:
    made = Repository(tmp_path, later_us={20: 1000, 41: -500}, commits=65)
    code, found = made.bisect(*made.ends(0))
    assert (code, subjects(found["steps"])) == (0, [("change 20", 1000), ("change 41", -500)])
    assert [one["share"] for one in found["steps"]] == [2.0, -1.0]
    assert (found["longer_ns"], found["unexplained_ns"], found["doubtful"]) == (500_000, 0, [])
    assert found["builds"] <= 13


def test_what_saves_time_is_found_as_well(tmp_path: Path) -> None:
    made = Repository(tmp_path, later_us={5: -700})
    code, found = made.bisect(*made.ends(0))
    assert (code, found["verdict"], subjects(found["steps"])) == (0, "shorter", [("change 5", -700)])


def test_changes_that_cancel_each_other_take_a_thorough_look(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = Repository(tmp_path, later_us={3: 1000, 9: -1000}, commits=12)
    code, found = made.bisect(*made.ends(0))
    assert (code, found["verdict"], found["steps"], found["not_looked_into"]) == (0, "unchanged", [], 10)
    assert "cancel each other are not looked for (--thorough does)" in " ".join(capsys.readouterr().out.split())
    code, found = made.bisect(*made.ends(0), "--thorough")
    assert subjects(found["steps"]) == [("change 3", 1000), ("change 9", -1000)]
    assert (code, len(found["measured"])) == (0, 12)


def test_commits_that_do_not_build_or_boot_are_passed_over(tmp_path: Path) -> None:
    made = Repository(tmp_path, later_us={10: 1000}, commits=17, fails=(8, 12), dies=(7,))
    code, found = made.bisect(*made.ends(0))
    assert (code, subjects(found["steps"])) == (0, [("change 10", 1000)])
    reasons = {one["state"]["subject"]: one for one in found["skipped"]}
    assert "cannot compile: no such thing" in reasons["change 8"]["reason"]
    assert "cannot compile" in Path(reasons["change 8"]["log"]).read_text()
    assert reasons["change 7"]["reason"].startswith("panicked: ") if "change 7" in reasons else True


def test_a_culprit_among_those_passed_over_is_a_range(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = Repository(tmp_path, later_us={9: 1000}, commits=17, fails=(8, 9))
    code, found = made.bisect(*made.ends(0))
    (step,) = found["steps"]
    assert (code, step["kind"], step["longer_ns"]) == (1, "range", 1_000_000)
    assert [one["subject"] for one in step["between"]] == ["change 8", "change 9", "change 10"]
    assert "change 9" in capsys.readouterr().out
    every = Repository(tmp_path / "every", later_us={3: 1000}, commits=6, fails=(1, 2, 3, 4))
    code, found = every.bisect(*every.ends(0))
    assert (code, len(found["steps"][0]["between"]), len(found["skipped"])) == (1, 5, 4)


def test_near_the_limit_more_boots_decide(tmp_path: Path) -> None:
    made = Repository(tmp_path, later_us={5: 220}, commits=9)
    code, found = made.bisect(*made.ends(0))
    assert (code, subjects(found["steps"])) == (0, [("change 5", 220)])
    assert found["smallest_ns"] == 4 * found["spread_ns"] < 220_000 < 5 * found["spread_ns"]
    boots = {one["state"]["subject"]: one["boots"] for one in found["measured"]}
    assert boots["change 4"] == boots["change 0"] == 3 + 5 + 8 and boots["change 5"] == 3 + 5 + 5


def test_below_what_is_seen_nothing_is_said_to_have_changed(tmp_path: Path) -> None:
    made = Repository(tmp_path, later_us={5: 40}, commits=9)
    code, found = made.bisect(*made.ends(0))
    assert (code, found["verdict"], found["builds"]) == (0, "unchanged", 2)
    code, found = made.bisect(*made.ends(0), "--limit", "100us")
    assert (code, found["verdict"], found["steps"]) == (1, "cannot say", [])
    assert "below what can be seen" in found["why"]


def test_small_steps_in_one_direction_are_a_gradual_change(tmp_path: Path) -> None:
    made = Repository(tmp_path, later_us=dict.fromkeys(range(1, 9), 100), commits=9)
    code, found = made.bisect(*made.ends(0), "--limit", "600us")
    (step,) = found["steps"]
    assert (code, step["kind"], step["longer_ns"], len(step["between"])) == (1, "gradual", 800_000, 8)


def test_a_limit_leaves_smaller_steps_to_what_is_not_explained(tmp_path: Path) -> None:
    made = Repository(tmp_path, later_us={3: 300, 9: 2000}, commits=12)
    code, found = made.bisect(*made.ends(0), "--limit", "1ms")
    assert (code, subjects(found["steps"]), found["unexplained_ns"]) == (0, [("change 9", 2000)], 300_000)


def test_a_phase_is_looked_at_instead(tmp_path: Path) -> None:
    made = Repository(tmp_path, later_us={5: 800}, commits=9)
    code, found = made.bisect(*made.ends(0), "--on", "phase:user space")
    assert (code, subjects(found["steps"]), found["figure"]) == (0, [("change 5", 800)], "phase:user space")
    assert made.bisect(*made.ends(0), "--on", "phase:firmware")[1]["verdict"] == "unchanged"
    with pytest.raises(BootFailed, match="--good .*no such phase"):
        made.bisect(*made.ends(0), "--on", "phase:lunch")
    with pytest.raises(InputError, match="one figure at a time"):
        made.bisect(*made.ends(0), "--on", "ready,phase:firmware")
    runs = sorted(made.runs.iterdir())
    with pytest.raises(InputError, match="--on timing:lunch: .*mine.toml has no timings.lunch"):
        made.bisect(*made.ends(0), "--on", "timing:lunch")
    assert sorted(made.runs.iterdir()) == runs, "no commit was built for it"


def test_what_was_built_once_is_not_built_again(tmp_path: Path) -> None:
    made = Repository(tmp_path, later_us={5: 800}, commits=9)
    first = made.bisect(*made.ends(0))[1]
    again = made.bisect(*made.ends(0))[1]
    assert (first["builds"], again["builds"]) == (5, 0)
    assert again["steps"][0]["longer_ns"] == first["steps"][0]["longer_ns"]
    assert made.bisect(*made.ends(0), "--rebuild")[1]["builds"] == 5


def test_the_users_checkout_stays_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = Repository(tmp_path, later_us={5: 800}, commits=9)
    made.git("checkout", "--quiet", "-b", "work", made.at(3))
    (made.folder / "state").write_text("half an edit\n")
    (made.folder / "untracked").write_text("mine\n")
    before = {path: path.read_bytes() for path in made.folder.glob("*") if path.is_file()}
    code, found = made.bisect("--good", made.at(0), "--bad", "main")
    assert (code, subjects(found["steps"])) == (0, [("change 5", 800)])
    assert "changes that are in no commit" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in made.folder.glob("*") if path.is_file()} == before
    assert made.git("branch", "--show-current") == "work"
    assert len(made.worktrees()) == 1 and not list(tmp_path.glob("cache/bisect/*/checkout"))


def test_builds_see_nothing_of_each_other_unless_asked_to(tmp_path: Path) -> None:
    made = Repository(tmp_path, later_us={2: 800}, commits=4)
    made.before_build = "test ! -e out/init || exit 1;"
    assert made.bisect(*made.ends(0))[1]["skipped"] == []
    with pytest.raises(BootFailed, match="--bad .*does not build"):
        made.bisect(*made.ends(0), "--incremental")
    made.before_build = "rm -rf out;"
    assert made.bisect(*made.ends(0), "--incremental")[0] == 0


def test_ctrl_c_in_a_build_leaves_nothing_and_the_run_goes_on(tmp_path: Path) -> None:
    made = Repository(tmp_path, later_us={5: 800, 12: -600}, commits=17, fails=(8,))
    flag = tmp_path / "flag"
    flag.touch()
    culprit = made.at(4)
    made.before_build = (
        f"if test $BOOTLAB_COMMIT = {culprit} -a -e {flag}; then rm {flag}; kill -INT {os.getpid()}; sleep 30; fi;"
    )
    with pytest.raises(Interrupted) as caught:
        made.bisect(*made.ends(0))
    begun = Store(made.runs).find("last").path
    assert caught.value.hint == f"go on with: bootlab bisect {made.system} --resume {begun}"
    assert len(made.worktrees()) == 1 and not list(tmp_path.glob("cache/bisect/*/checkout"))
    kept = {path: path.stat().st_mtime_ns for path in begun.glob("boots/*/record.json")}
    assert kept and json.loads((begun / "skipped.json").read_text())["skipped"]
    code, found = made.bisect("--resume", "last", "--no-explain")
    assert (code, subjects(found["steps"])) == (0, [("change 5", 800), ("change 12", -600)])
    assert found["run"] == str(begun)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept, "finished boots are not booted again"
    fresh = Repository(tmp_path / "fresh", later_us={5: 800, 12: -600}, commits=17, fails=(8,))
    whole = fresh.bisect(*fresh.ends(0))[1]
    for key in ("boots", "longer_ns", "unexplained_ns", "spread_ns"):
        assert found[key] == whole[key], key
    assert found["builds"] < whole["builds"]
    for words in (["--good", "main"], ["--thorough"], ["--build", "make"]):
        with pytest.raises(InputError, match="goes on with what was asked then"):
            made.bisect("--resume", "last", *words)


def test_a_killed_bisection_is_cleaned_up_by_the_next_one(tmp_path: Path) -> None:
    made = Repository(tmp_path, later_us={2: 800}, commits=4)
    made.bisect(*made.ends(0))
    (left,) = tmp_path.glob("cache/bisect/*")
    made.git("worktree", "add", "--quiet", "--detach", str(left / "checkout"))
    (left / "checkout" / "out").mkdir()
    assert made.bisect(*made.ends(0), "--rebuild")[0] == 0
    assert len(made.worktrees()) == 1


def test_a_merge_is_looked_into(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = Repository(tmp_path, later_us={}, commits=4)
    made.git("checkout", "--quiet", "-b", "topic", made.at(1))
    for number in range(10, 18):
        made.later_us = 900 if number >= 13 else 0
        made.write_state()
        made.commit(f"change {number}")
    made.git("checkout", "--quiet", "main")
    made.git("merge", "--quiet", "--no-ff", "--strategy-option=theirs", "--message", "change 4", "topic")
    (made.folder / "notes").write_text("later\n")
    made.commit("change 5")
    code, found = made.bisect(*made.ends(0, 5))
    (step,) = found["steps"]
    assert (code, step["after"]["subject"], step["longer_ns"]) == (0, "change 4", 900_000)
    assert subjects(step["inside"]) == [("change 13", 900)]
    assert "a merge, which brought:" in capsys.readouterr().out
    (step,) = made.bisect(*made.ends(0, 5), "--first-parent")[1]["steps"]
    assert (step["inside"], step["whole_merge"]) == ([], "its branches are not looked into")
    # A good commit on the branch is no first parent of anything on main, and its line goes by the branch.
    code, found = made.bisect(*made.ends(11, 5))
    assert subjects(found["steps"])[0] == ("change 13", 900)


def test_the_system_file_of_each_commit_is_read_where_asked(tmp_path: Path) -> None:
    made = Repository(tmp_path, later_us={}, commits=3, answers=(answer("slower", later_ns=700_000),))
    made.write_system(made.system, "slower")
    made.commit("change 3")
    (made.folder / "notes").write_text("later\n")
    made.commit("change 4")
    assert made.bisect(*made.ends(0))[1]["verdict"] == "unchanged"
    code, found = made.bisect(*made.ends(0), "--system-from-commit")
    assert (code, subjects(found["steps"])) == (0, [("change 3", 700)])
    outside = tmp_path / "elsewhere.toml"
    outside.write_text(made.system.read_text().replace('"out/', f'"{made.folder}/out/'))
    with pytest.raises(InputError, match="--system-from-commit: .* is not in the repository"):
        run(["bisect", str(outside), *made.ends(0), "--repo", str(made.folder), "--system-from-commit"])


def test_ends_that_cannot_be_are_told(tmp_path: Path) -> None:
    made = Repository(tmp_path, later_us={}, commits=4, fails=(3,))
    made.git("checkout", "--quiet", "-b", "side", made.at(1))
    made.write_state()
    side = made.commit("change 9")
    made.git("checkout", "--quiet", "main")
    for good, bad, told in (
        ("main", "main", "are the same commit"),
        (made.at(2), made.at(0), "is newer than --bad"),
        (side, made.at(2), "is no ancestor of --bad"),
        ("nonsense", "main", "--good nonsense: no such commit"),
        (made.at(0), "--help", "--bad --help: no such commit"),
    ):
        with pytest.raises(InputError, match=told):
            made.bisect("--good", good, f"--bad={bad}")
    with pytest.raises(InputError, match="--good: missing"):
        made.bisect("--bad", "main")
    with pytest.raises(BootFailed, match=r"--bad .*: cannot be measured: does not build: .*\n.*cannot compile"):
        made.bisect(*made.ends(0))
    with pytest.raises(InputError, match="no repository with its files"):
        made.bisect(*made.ends(0), "--repo", str(tmp_path))
    assert len(made.worktrees()) == 1


def test_a_build_that_makes_nothing_is_told(tmp_path: Path) -> None:
    made = Repository(tmp_path, later_us={}, commits=3)
    with pytest.raises(BootFailed, match=r"target.boots: out/recorded: its build did not make it"):
        made.bisect(*made.ends(0), "--build", "true")
    with pytest.raises(BootFailed, match="not found"):
        made.bisect(*made.ends(0), "--build", "no-such-program")
    words = ["bisect", str(made.system), *made.ends(0), "--repo", str(made.folder), "--runs", str(made.runs)]
    with pytest.raises(BootFailed, match=r"out/recorded: this commit has no such file"):
        run(words)


def test_a_system_that_names_nothing_of_the_repository_is_refused(tmp_path: Path) -> None:
    made = Repository(tmp_path, later_us={}, commits=3)
    made.before_build = ""
    subprocess.run(["sh", "-c", made.command], cwd=made.folder, check=True)
    text = made.system.read_text().replace('"out/', f'"{made.folder}/out/')
    outside = tmp_path / "outside.toml"
    outside.write_text(
        text.replace(str(made.folder / "out"), str(made.outside)).replace("/init", "/recorded/replay.toml")
    )
    with pytest.raises(InputError, match="names no file in the repository"):
        run(["bisect", str(outside), *made.ends(0), "--repo", str(made.folder)])
    # From outside a path into the repository is as good.
    outside.write_text(text)
    assert run(["bisect", str(outside), *made.words(*made.ends(0))[2:]]) == 0


def test_a_plan_says_how_many_builds_it_takes_and_does_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = Repository(tmp_path, later_us={}, commits=65)
    assert run(made.words(*made.ends(0), "--plan", "--json")) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["commits"], plan["builds"], plan["thorough"]) == (64, {"1": 8, "2": 13, "3": 17}, 65)
    assert run(made.words(*made.ends(0), "--plan")) == 0
    assert "1 change: 8 builds" in capsys.readouterr().out
    assert not made.runs.exists() and len(made.worktrees()) == 1


def test_a_noisy_clock_is_refused(tmp_path: Path) -> None:
    made = Repository(tmp_path, later_us={}, commits=3)
    made.system.write_text(made.system.read_text() + '\n[clock]\nkind = "wall"\n')
    with pytest.raises(InputError, match="a bisection needs boots that repeat"):
        made.bisect(*made.ends(0))


def test_a_commit_on_another_machine_is_passed_over(tmp_path: Path) -> None:
    made = Repository(tmp_path, later_us={}, commits=3)
    text = made.system.read_text()
    made.system.write_text(text.replace('"max"', '"Nehalem"'))
    made.commit("change 3")
    made.system.write_text(text)
    made.later_us = 700
    made.write_state()
    made.commit("change 4")
    code, found = made.bisect(*made.ends(2), "--system-from-commit")
    assert (code, [step["kind"] for step in found["steps"]]) == (1, ["range"])
    assert "another CPU model do not compare" in found["skipped"][0]["reason"]


def test_it_is_not_fooled_by_the_repository_of_a_hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Repository(tmp_path, later_us={2: 800}, commits=4)
    ends = made.ends(0)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "nothing"))
    assert made.bisect(*ends)[0] == 0


class Kernels:
    """Eight kernels in a local archive of Debian packages, whose boots are on record, and a system with one of them."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, *, longer_us: dict[int, int], dies: int = 0):
        archive, self.runs = LocalArchive(folder), folder / "runs"
        archive.add("linux-image-cloud-amd64", "6.1.8", {}, "linux-image-6.1.0-8-cloud-amd64 (= 6.1.8)")
        answers, later_us = [], 0
        for number in range(1, 9):
            name, version = f"linux-image-6.1.0-{number}-cloud-amd64", f"6.1.{number}"
            archive.add(name, version, {f"boot/vmlinuz-6.1.0-{number}": name})
            later_us += longer_us.get(number, 0)
            said = {"end": "panicked"} if number == dies else {"later_ns": later_us * 1000}
            answers.append(Answer({"kernel.package": f"={version}$"}, said))
        archive.publish()
        monkeypatch.setattr(
            "bootlab.cli.bisect.states.open_shop", lambda *, silent: Workshop(Cache.default(), apt=archive.apt)
        )
        replayed(folder, *answers)
        text = SMALL.read_text().replace('init = "init"', f'init = "{SMALL.parent / "init"}"')
        self.system = folder / "mine.toml"
        self.system.write_text(f'name = "mine"\n{text}\n[target]\nkind = "replay"\nboots = "recorded"\n')

    def words(self, *more: str) -> list[str]:
        return ["bisect", str(self.system), "--packages", "--no-explain", *more, "--runs", str(self.runs)]


needs_apt = pytest.mark.skipif(
    shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None, reason="needs apt and dpkg"
)


@needs_apt
def test_versions_of_a_kernel_package_are_bisected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kernels = Kernels(tmp_path, monkeypatch, longer_us={3: 1000, 6: -400}, dies=4)
    assert run(kernels.words("--good", "6.1.1")) == 0
    found = json.loads(Store(kernels.runs).find("last").result_text())
    steps = [(one["after"]["name"], one["longer_ns"], one["kind"]) for one in found["steps"]]
    assert steps == [("6.1.3", 1_000_000, "commit"), ("6.1.6", -400_000, "commit")]
    assert (found["of"], found["states"], found["unexplained_ns"], found["repository"]) == ("packages", 8, 0, "")
    said = " ".join(capsys.readouterr().out.split())
    assert "6.1.3 linux-image-6.1.0-3-cloud-amd64, bookworm" in said and "versions measured" in said
    assert "commit" not in said
    assert run(["report", str(Store(kernels.runs).find("last").path), "--markdown"]) == 0


@needs_apt
def test_a_bisection_of_versions_goes_on_with_those_that_were_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = Kernels(tmp_path, monkeypatch, longer_us={3: 1000})
    assert run(kernels.words("--good", "6.1.1", "--bad", "6.1.6")) == 0
    first = Store(kernels.runs).find("last")
    before = json.loads(first.result_text())
    first.result.unlink()
    words = ["bisect", str(kernels.system), "--resume", "last", "--no-explain", "--runs", str(kernels.runs)]
    assert run(words) == 0
    after = json.loads(Store(kernels.runs).find("last").result_text())
    assert [one["after"]["name"] for one in after["steps"]] == ["6.1.3"]
    assert (after["states"], after["boots"]) == (before["states"], before["boots"])


@needs_apt
def test_the_versions_on_hand_are_listed_and_wrong_words_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kernels = Kernels(tmp_path, monkeypatch, longer_us={})
    assert run(kernels.words("--plan", "--json")) == 0
    plan = json.loads(capsys.readouterr().out)
    names = [one["name"] for one in plan["versions"]]
    assert (names[0], names[-1]) == (plan["good"]["name"], plan["bad"]["name"]) == ("6.1.1", "6.1.8")
    assert run(kernels.words("--good", "6.1.2", "--bad", "6.1.4", "--plan")) == 0
    said = capsys.readouterr().out
    assert "2 versions, 6.1.2..6.1.4" in said and "linux-image-6.1.0-3-cloud-amd64, bookworm" in said
    with pytest.raises(InputError, match="--packages: nothing is checked out or built"):
        run(kernels.words("--good", "6.1.2", "--build", "make"))
    with pytest.raises(InputError, match="no such version is on hand") as caught:
        run(kernels.words("--good", "5.10"))
    assert caught.value.hint is not None and "6.1.1, 6.1.2" in caught.value.hint
    built = kernels.system.read_text().replace('package = "linux-image-cloud-amd64"', 'image = "vmlinuz"')
    kernels.system.write_text(built.replace('suite = "bookworm"\n', ""))
    (tmp_path / "vmlinuz").write_text("")
    with pytest.raises(InputError, match=r"kernel\.package: this system's kernel is of no Debian package"):
        run(kernels.words("--good", "6.1.2"))
