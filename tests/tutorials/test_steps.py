"""No command of a tutorial is passed over: each is run, or told to take hours, and those are counted here."""

import re
from pathlib import Path

import pytest

from bootlab.system import read_system
from tests.tutorials.promises import PROMISES
from tests.tutorials.steps import TUTORIALS, Kind, TutorialError, parse_tutorial, tutorials

# How many commands of each tutorial no test runs; which, and why, the tutorial says itself.
LEFT_OUT = {"embedded": 0, "images": 1, "microvm": 0}

WHOLE = """Put this into `init`:

```sh init
#!/bin/sh
```

Then `bootlab boot` it:

```sh
# what this says
bootlab boot before.toml
bootlab try before.toml   # an aside, two hours: every technique
```

```toml
[machine]
```

```sh
echo all \\
is well
```

```text
all is well
```
"""


def test_every_tutorial_is_read_and_what_is_left_out_is_counted() -> None:
    """A command that is marked as an aside fails this test until it is counted here, too."""
    read = {tutorial.name: tutorial for tutorial in tutorials()}
    assert {name: len(tutorial.asides) for name, tutorial in read.items()} == LEFT_OUT
    assert {*read} == {*PROMISES} == {path.stem for path in TUTORIALS.iterdir()}
    for tutorial in read.values():
        assert len(tutorial.commands) - len(tutorial.asides) > 10, tutorial.name
        assert tutorial.commands[0].line.startswith("make setup"), f"{tutorial.name} does not begin with nothing"


def test_each_block_is_told_by_its_first_line() -> None:
    tutorial = parse_tutorial("whole", WHOLE)
    kinds = [Kind.FILE, Kind.COMMANDS, Kind.EXCERPT, Kind.COMMANDS, Kind.OUTPUT]
    assert [block.kind for block in tutorial.blocks] == kinds
    assert [(one.line, one.time, one.reason) for one in tutorial.commands] == [
        ("bootlab boot before.toml", "", ""),
        ("bootlab try before.toml", "two hours", "every technique"),
        ("echo all is well", "", ""),
    ]
    assert [one.line for one in tutorial.asides] == ["bootlab try before.toml"]
    assert (tutorial.blocks[0].path, tutorial.blocks[0].text, tutorial.blocks[0].line) == ("init", "#!/bin/sh\n", 3)


@pytest.mark.parametrize(
    ("added", "said"),
    [
        ("\n    make setup\n", r"line 28: an indented block says not what it is"),
        ("- a list\n\n    ```sh\n    make\n    ```\n", "line 29: an indented block"),
        ("- ```sh\n  make\n  ```\n", "line 27: fence a block by ``` at the first column"),
        ("~~~sh\nmake\n~~~\n", "line 27: fence a block"),
        ("<pre>make</pre>\n", "line 27: fence a block"),
        ("``make setup``\n", "line 27: fence a block"),
        ("```\nmake\n```\n", "says not what the block is"),
        ("```console\n$ make\n```\n", "a block of console is neither typed nor a file"),
        ("```sh\nmake\n", "line 27: the block has no end"),
        ("```sh\n# nothing\n```\n", "line 27: the block has no command"),
        ("```text\nall is well\n```\n", "line 27: no command before it prints this"),
        ("```sh\nls  # an aside: why\n```\n", "an aside ends in `# an aside, TIME: REASON`"),
        ("```sh\nls  # an aside, a minute: why\n```\n", "and its time is in hours"),
        ("```sh\nls  # an aside, an hour:\n```\n", "an aside ends in"),
        ("```sh\nls  # an aside, an hour: why\n```\n```text\nx\n```\n", "line 30: no command before it prints this"),
        ("```sh\nls\n```\n```text\n\n```\n", "line 30: the block promises nothing"),
        ("```sh\nls\n```\n```text\n$ make setup\n```\n", "'\\$ make setup' is a command"),
        ("```sh\nls\n```\n```text\n  bootlab boot x\n```\n", "'bootlab boot x' is a command"),
        ("Type `bootlab apply\n--to changes`.\n", "`bootlab apply --to changes` is a command that no block has"),
        ("Or `bootlab boot other.toml`.\n", "`bootlab boot other.toml` is a command that no block has"),
        ("Or `make setup`.\n", "`make setup` is a command"),
        ("Or `echo no`.\n", "`echo no` is a command"),
    ],
)
def test_what_nobody_would_run_is_refused(added: str, said: str) -> None:
    with pytest.raises(TutorialError, match=rf"^whole\.md: .*{said}"):
        parse_tutorial("whole", WHOLE + added)


def test_an_excerpt_is_a_system_file(tmp_path: Path) -> None:
    """What a tutorial shows of a file, and has nobody write, is a system as it stands."""
    excerpts = [block for one in tutorials() for block in one.blocks if block.kind is Kind.EXCERPT]
    assert excerpts
    for block in excerpts:
        for name in re.findall(r'"([\w.-]+\.img|bzImage)"', block.text):
            (tmp_path / name).write_bytes(b"")
        (tmp_path / "own.toml").write_text(block.text)
        assert read_system(tmp_path / "own.toml").machine.type.value == "microvm"
