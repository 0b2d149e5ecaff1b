"""`single` and `emergency` on the kernel's command line: a shell that asks for root's password, then the boot."""

import os
import shutil
import signal
from pathlib import Path

import pytest

from tests.boot.init.namespace import InitNamespace

pytestmark = [
    pytest.mark.boot,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a PID namespace of its own"),
]
_UNITS = {"good": "exec /bin/worker stay\n", "more": "exec /bin/worker stay\nneeds good\n"}


class RescueNamespace(InitNamespace):
    """Its console is a plain file, so that a shell can be opened there."""

    word = "single"
    sulogin = True

    def words(self) -> tuple[str, ...]:
        return ("splash", self.word)

    def before(self) -> None:
        (self.root / "dev/console").touch()
        # It waits for ever, as for a password.
        if self.sulogin:
            shutil.copy(self.root / "bin/worker", self.root / "sbin/sulogin")

    def shells(self) -> list[int]:
        """Return the numbers of shells on this host."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(path / "exe") == str((self.root / "sbin/sulogin").resolve()):
                    found.append(int(path.name))
            except OSError:
                continue
        return found


@pytest.mark.parametrize("word", ["single", "emergency"])
def test_the_shell_is_first_and_the_boot_goes_on_when_it_has_ended(
    tmp_path: Path, programs: dict[str, Path], word: str
) -> None:
    class Asked(RescueNamespace):
        pass

    Asked.word = word
    with Asked(tmp_path / "root", programs, _UNITS, "goal more\n") as init:
        init.until(lambda: f"{word}: no unit is started before the shell" in init.console())
        init.until(lambda: len(init.shells()) == 1)
        assert set(init.states().values()) == {"off"}
        init.until(lambda: init.processes() == 1)
        os.kill(init.shells()[0], signal.SIGKILL)
        init.until(lambda: set(init.states().values()) == {"up"})
        assert "going on with the boot" in init.console() and "the goal is reached" in init.console()
        assert init.shut_down(20) < 5


def test_a_machine_can_be_shut_down_from_it(tmp_path: Path, programs: dict[str, Path]) -> None:
    with RescueNamespace(tmp_path / "root", programs, _UNITS) as init:
        init.until(lambda: len(init.shells()) == 1)
        assert init.shut_down(20) < 5
        assert "going on with the boot" not in init.console()


def test_without_sulogin_it_is_said_and_the_boot_goes_on(tmp_path: Path, programs: dict[str, Path]) -> None:
    class Without(RescueNamespace):
        sulogin = False

    with Without(tmp_path / "root", programs, _UNITS) as init:
        init.until(lambda: set(init.states().values()) == {"up"})
        console = init.console()
        assert "no emergency shell: there is no /sbin/sulogin, and init.conf has no line `emergency PROGRAM`" in console
        assert (
            console.index("no emergency shell") < console.index("going on with the boot") < console.index("good is up")
        )


def test_the_shell_of_a_goal_that_cannot_be_reached_asks_for_the_password(
    tmp_path: Path, programs: dict[str, Path]
) -> None:
    class Plain(RescueNamespace):
        def words(self) -> tuple[str, ...]:
            return ()

    units = {"bad": "exec /bin/worker exit 1\nready exit\n"}
    with Plain(tmp_path / "root", programs, units, "goal bad\non-failure shell\n") as init:
        init.until(lambda: len(init.shells()) == 1)
        assert init.states() == {"bad": "failed"}
