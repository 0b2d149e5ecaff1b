"""What a worker has: by its hash and by nothing else, and only for as long as it stays what it was."""

import hashlib
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.cluster.inputs import InputStore
from bootlab.cluster.order import Input
from bootlab.errors import InputError, StoreError

DATA = b"all of a kernel" * 1000
SHA = hashlib.sha256(DATA).hexdigest()
ELSEWHERE = Path("/nowhere/here/kernel")
ME = "abc123"


def store(folder: Path) -> InputStore:
    return InputStore(Cache(folder / "cache"), folder / "scratch")


def send(there: InputStore, data: bytes, sha256: str = SHA) -> bool:
    for offset in range(0, len(data), 4000):
        there.take(sha256, offset, data[offset : offset + 4000], ME)
    return there.finish(sha256, ME)


def test_a_file_of_a_shared_folder_is_used_where_it_is(tmp_path: Path) -> None:
    shared = tmp_path / "kernel"
    shared.write_bytes(DATA)
    one, there = Input(SHA, len(DATA), shared), store(tmp_path)
    assert there.lacking([one]) == [] and there.path(SHA) == shared
    for other in (DATA[:-1], DATA[:-1] + b"!"):
        shared.write_bytes(other)
        assert there.lacking([one]) == [SHA], "cut, or another one"


def test_pieces_become_a_copy_that_is_found_again(tmp_path: Path) -> None:
    one, there = Input(SHA, len(DATA), ELSEWHERE), store(tmp_path)
    assert there.lacking([one]) == [SHA]
    assert send(there, DATA)
    assert there.lacking([one]) == []
    assert there.path(SHA).read_bytes() == DATA
    assert store(tmp_path).lacking([one]) == [], "another process has it, too"
    assert not list((tmp_path / "scratch").iterdir())


@pytest.mark.parametrize("came", [DATA[:-1], DATA + b"!", DATA[:5000] + b"?" + DATA[5001:], b""])
def test_what_came_as_something_else_is_not_kept(came: bytes, tmp_path: Path) -> None:
    one, there = Input(SHA, len(DATA), ELSEWHERE), store(tmp_path)
    assert not send(there, came)
    assert there.lacking([one]) == [SHA]
    assert send(there, DATA) and there.lacking([one]) == []


def test_a_copy_that_was_damaged_is_lacking_and_can_be_sent_again(tmp_path: Path) -> None:
    one, there = Input(SHA, len(DATA), ELSEWHERE), store(tmp_path)
    assert send(there, DATA) and there.lacking([one]) == []
    copy = there.path(SHA)
    copy.write_bytes(DATA[:100] + b"\xff" + DATA[101:])
    assert there.lacking([one]) == [SHA] and not copy.exists()
    assert send(there, DATA) and there.lacking([one]) == []


def test_a_name_that_is_no_hash_leads_nowhere(tmp_path: Path) -> None:
    there = store(tmp_path)
    for name in ("../../etc/passwd", "A" * 64, ""):
        with pytest.raises(InputError):
            there.take(name, 0, b"x", f"{name}/")
    assert not (tmp_path / "etc").exists()


def test_a_cache_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    there = InputStore(Cache(tmp_path / "cache"), tmp_path / "scratch")
    with pytest.raises(StoreError):
        send(there, DATA)
