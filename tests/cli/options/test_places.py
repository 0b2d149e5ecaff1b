"""`--cluster`: refused by name where it cannot be, before anything is made; without Dask told how to get it."""

import subprocess
import sys
from pathlib import Path

import pytest

from bootlab.cli.options.places import choose_place, complete_cluster
from bootlab.errors import InputError
from bootlab.measure.place import Here

ROOT = Path(__file__).parents[3]
VERBS = ["measure", "try", "compare", "sweep", "tailor", "gate", "bisect"]


def bootlab(*words: str, before: str = "") -> "subprocess.CompletedProcess[str]":
    code = f"{before}\nimport sys\nsys.argv = ['bootlab', *{list(words)!r}]\nfrom bootlab.cli import main\nmain()"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)


def test_without_the_option_boots_run_here() -> None:
    with choose_place(None, 3).open(lambda line: None) as place:
        assert isinstance(place, Here) and place.parallel == 3


def test_a_bad_address_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(InputError, match="local:0"):
        choose_place("local:0", None)


def test_completion() -> None:
    assert complete_cluster("t") == ["tls://", "tcp://127.0.0.1:"]


def test_without_dask_every_verb_works_and_the_option_says_how_to_get_it(tmp_path: Path) -> None:
    no_dask = "import sys\nfor name in ('dask', 'distributed'): sys.modules[name] = None"
    done = bootlab("measure", "examples/microvm.toml", "--cluster", "local:2", "--runs", str(tmp_path), before=no_dask)
    assert done.returncode == 3
    assert "--cluster local:2: needs Dask" in done.stderr and "pip install 'bootlab[cluster]'" in done.stderr
    assert not list(tmp_path.iterdir())
    done = bootlab("measure", "--help", before=no_dask)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("verb", [*VERBS, "study compression"])
def test_every_verb_that_boots_many_has_it(verb: str) -> None:
    done = bootlab(*verb.split(), "--help")
    assert done.returncode == 0 and "--cluster ADDRESS" in done.stdout
