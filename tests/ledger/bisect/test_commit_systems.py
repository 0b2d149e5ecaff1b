"""Systems of commits: what is a commit's and what is not, where it lies, and what brings it back."""

from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.errors import InputError
from bootlab.ledger.bisect.checkout import Checkout
from bootlab.ledger.bisect.commit_systems import CommitSystems, Recipe
from bootlab.ledger.bisect.history import GitHistory
from bootlab.ledger.bisect.state import BisectState, Unusable
from bootlab.ledger.git import run_git

SYSTEM = """
[machine]
type = "q35"
[kernel.build]
source = "../linux"
fragments = ["board.config"]
[initramfs]
init = "init"
files = { "/etc/motd" = "../notes/motd", "/etc/host" = "%s" }
[booted]
mark = "ready"
"""


class Place:
    """A repository of a kernel tree, an image's recipe and notes, with a commit for each version of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "repository"
        self.outside = folder / "host"
        self.outside.write_text("of the host\n")
        for name in ("linux", "image", "notes"):
            (self.folder / name).mkdir(parents=True)
        run_git(self.folder, "init", "--quiet", "--initial-branch=main")
        run_git(self.folder, "config", "user.name", "Ada")
        run_git(self.folder, "config", "user.email", "ada@example.org")
        self.file = self.folder / "image/mine.toml"
        self.file.write_text(SYSTEM % self.outside)
        self.commits = [self.commit(number) for number in (1, 2)]
        self.cache = Cache(folder / "cache")
        self.history = GitHistory(self.folder)
        self.checkout = Checkout(self.history.top, self.history.common, self.cache)
        self.logs = folder / "logs"

    def commit(self, number: int) -> str:
        for name in ("linux/Makefile", "image/init", "image/board.config", "notes/motd"):
            (self.folder / name).write_text(f"{name} {number}\n")
        (self.folder / "image/init").chmod(0o755)
        run_git(self.folder, "add", "--all")
        run_git(self.folder, "commit", "--quiet", "--message", f"change {number}")
        return run_git(self.folder, "rev-parse", "HEAD")

    def systems(self, command: str | None = None, **words: bool) -> CommitSystems:
        recipe = Recipe(self.file, self.file.read_bytes(), command=command, **words)
        return CommitSystems(self.history, self.checkout, recipe, self.cache, self.logs, first_parent=False)

    def state(self, number: int) -> BisectState:
        return self.history.state(self.commits[number - 1])


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_what_lies_in_the_repository_is_a_commits_and_all_else_stays(place: Place) -> None:
    with place.checkout.opened(lambda: None):
        system = place.systems().system(place.state(1))
        assert system.initramfs is not None and system.initramfs.init is not None and system.kernel.build is not None
        assert system.initramfs.init.read_text() == "image/init 1\n"
        assert system.initramfs.init.stat().st_mode & 0o777 == 0o755
        assert system.initramfs.files["/etc/motd"].read_text() == "notes/motd 1\n"
        assert system.initramfs.files["/etc/host"] == place.outside
        assert system.kernel.build.fragments[0].read_text() == "image/board.config 1\n"
        assert (place.folder / "image/init").read_text() == "image/init 2\n"


def test_a_source_stays_in_the_checkout_and_is_brought_back(place: Place) -> None:
    systems = place.systems()
    with place.checkout.opened(lambda: None):
        one, other = (systems.system(place.state(number)) for number in (1, 2))
        assert one.kernel.build is not None and other.kernel.build is not None
        source = one.kernel.build.source
        assert source == place.checkout.path / "linux" == other.kernel.build.source
        assert (source / "Makefile").read_text() == "linux/Makefile 2\n"
        systems.bring_back(place.state(1))
        assert (source / "Makefile").read_text() == "linux/Makefile 1\n"
        # What was made of the commits lies in the cache, each at its own place.
        assert one.initramfs is not None and other.initramfs is not None
        assert one.initramfs.init != other.initramfs.init
    assert not place.checkout.path.exists()


def test_a_build_sees_its_commit_and_is_run_once(place: Place) -> None:
    systems = place.systems('test "$(git rev-parse HEAD)" = $BOOTLAB_COMMIT && echo built >> image/init')
    with place.checkout.opened(lambda: None):
        for _ in range(2):
            system = systems.system(place.state(1))
            assert system.initramfs is not None and system.initramfs.init is not None
            assert system.initramfs.init.read_text() == "image/init 1\nbuilt\n"
        assert systems.builds == 1
        systems.system(place.state(2))
        systems.bring_back(place.state(1))
        assert systems.builds == 3, "a source that a build may have changed is made again"


def test_what_cannot_be_made_is_unusable(place: Place) -> None:
    with place.checkout.opened(lambda: None):
        with pytest.raises(Unusable, match="does not build: exit status 7") as caught:
            place.systems("echo so; exit 7").system(place.state(1))
        assert Path(caught.value.log).read_text() == "so\n"
        with pytest.raises(Unusable, match=r"initramfs\.init: image/init: its build did not make it"):
            place.systems("rm image/init").system(place.state(1))
        # What was left in the middle is checked out anew.
        assert place.systems().system(place.state(1)).initramfs is not None


def test_a_system_file_of_each_commit(place: Place) -> None:
    place.file.write_text(place.file.read_text().replace("board.config", "other.config"))
    (place.folder / "image/other.config").write_text("CONFIG_SMP=y\n")
    place.commits.append(place.commit(3))
    with place.checkout.opened(lambda: None):
        builds = [place.systems(from_commit=True).system(place.state(number)).kernel.build for number in (1, 3)]
        assert [build.fragments[0].name for build in builds if build is not None] == ["board.config", "other.config"]
        with pytest.raises(Unusable, match=r"kernel\.build\.fragments\[0\]: image/other.config: this commit has no"):
            place.systems().system(place.state(1))


def test_links_lead_into_the_repository_as_well(place: Place, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(place.folder / "image")
    text = place.file.read_text().replace('"init"', f'"{tmp_path}/link/init"')
    place.file.write_text(text)
    with place.checkout.opened(lambda: None):
        system = place.systems().system(place.state(1))
        assert system.initramfs is not None and system.initramfs.init is not None
        assert system.initramfs.init.read_text() == "image/init 1\n"


def test_a_sparse_working_tree_does_not_make_the_checkout_sparse(place: Place) -> None:
    run_git(place.folder, "sparse-checkout", "set", "image")
    assert not (place.folder / "notes").exists()
    with place.checkout.opened(lambda: None):
        for number in (1, 2):
            system = place.systems().system(place.state(number))
            assert system.initramfs is not None
            assert system.initramfs.files["/etc/motd"].read_text() == f"notes/motd {number}\n"


def test_nothing_that_could_differ_is_refused(place: Place) -> None:
    place.systems().expect_moved()
    place.file.write_text('[machine]\ntype = "q35"\n[kernel]\npackage = "linux-image-amd64"\n[booted]\nmark = "up"\n')
    with pytest.raises(InputError, match="names no file in the repository"):
        place.systems().expect_moved()
    place.systems(from_commit=True).expect_moved()


def test_what_a_killed_bisection_of_another_repository_left_goes_and_one_at_work_stays(place: Place) -> None:
    left, at_work = (place.cache.root / "bisect" / name / "checkout" for name in ("1" * 16, "2" * 16))
    for folder in (left, at_work):
        folder.mkdir(parents=True)
        (folder / "file").touch()
    with place.cache.lock(f"bisect-{'2' * 16}"), place.checkout.opened(lambda: None):
        assert not left.exists() and (at_work / "file").exists()
