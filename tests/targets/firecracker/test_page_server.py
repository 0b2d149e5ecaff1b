"""The page server with a real userfaultfd of another process: what comes, what is remembered, and what goes wrong."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bootlab.errors import BootFailed, StoreError
from bootlab.targets.firecracker.page_server import (
    WORKING_SET,
    PageServer,
    ranges_of,
    read_regions,
    read_working_set,
    write_working_set,
)
from tests.targets.firecracker.touching import PAGES

TOUCHING = Path(__file__).with_name("touching.py")


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    (tmp_path / "ram").write_bytes(b"".join(bytes([page]) * 4096 for page in range(PAGES)))
    return tmp_path


def touch(kept: Path, *pages: int) -> tuple[PageServer, subprocess.CompletedProcess[str]]:
    place = kept / "pages"
    place.unlink(missing_ok=True)
    with PageServer(kept, kept / "ram", place) as server:
        words = [sys.executable, TOUCHING, place, *map(str, pages)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode == 1 and "userfaultfd: " in done.stderr:
            pytest.skip(done.stderr)
        if not server.served.failed:
            server.wait_until_ahead()
    return server, done


def test_each_page_is_the_snapshots_and_the_next_clone_has_it_ahead(kept: Path) -> None:
    first, done = touch(kept, 7, 8, 9, 3, 8)
    assert done.stdout.split() == ["7", "8", "9", "3", "8"], done.stderr
    assert (first.served.ahead, first.served.asked, first.served.failed) == (0, 4, "")
    assert read_working_set(kept / WORKING_SET) == [(7 * 4096, 3 * 4096), (3 * 4096, 4096)]
    assert "4 pages asked for, which are the snapshot's working set" in first.words()
    second, done = touch(kept, 7, 8, 9, 3, 60)
    assert done.stdout.split() == ["7", "8", "9", "3", "60"]
    assert (second.served.ahead, second.served.asked) == (4, 1) and second.served.took_ns > 0
    assert "4 pages of the working set brought ahead" in second.words() and "1 more asked for" in second.words()
    # What the first left stays: each clone is measured with the same.
    assert read_working_set(kept / WORKING_SET) == [(7 * 4096, 3 * 4096), (3 * 4096, 4096)]


def test_a_snapshot_that_lacks_a_page_ends_whoever_waits_for_it(kept: Path) -> None:
    (kept / "ram").write_bytes(bytes(4096))
    server, done = touch(kept, 5)
    assert done.returncode == -9 and "shorter than the memory" in server.served.failed
    with pytest.raises(BootFailed, match="page server: .*shorter"):
        server.wait_until_ahead()
    assert not (kept / WORKING_SET).exists()


def test_a_working_set_of_other_memory_is_refused(kept: Path) -> None:
    write_working_set(kept / WORKING_SET, [PAGES * 4096])
    server, done = touch(kept, 5)
    assert done.returncode == -9 and "that the memory has not got" in server.served.failed
    for text in ("", "{", '{"schema": "other", "ranges": []}', json.dumps({"schema": "bootlab.working-set/1"})):
        (kept / WORKING_SET).write_text(text)
        with pytest.raises(StoreError, match=WORKING_SET):
            PageServer(kept, kept / "ram", kept / "pages")


def test_nobody_comes_and_it_ends(kept: Path) -> None:
    with PageServer(kept, kept / "ram", kept / "pages") as server:
        pass
    assert server.served.failed == "" and not (kept / WORKING_SET).exists()


def test_pages_become_ranges_in_the_order_of_their_first_touch() -> None:
    assert ranges_of([8192, 12288, 0, 8192, 16384]) == [(8192, 8192), (0, 4096), (16384, 4096)]
    assert ranges_of([]) == []


@pytest.mark.parametrize("words", [b"", b"{}", b"[]", b"[1]", b'[{"size": 1}]', b'[{"base_host_virt_addr": -1}]'])
def test_what_is_no_layout_is_refused(words: bytes) -> None:
    with pytest.raises(ValueError):
        read_regions(words)


@pytest.mark.parametrize("wrong", [{"base_host_virt_addr": 0x1001}, {"size": 4096}, {"offset": 4096}])
def test_no_page_of_a_layout_is_beyond_the_memory(wrong: dict[str, int]) -> None:
    right = {"base_host_virt_addr": 1 << 21, "size": 1 << 21, "offset": 0, "page_size": 1 << 21}
    assert read_regions(json.dumps([right]).encode())[0].page_size == 1 << 21
    with pytest.raises(ValueError, match="in parts of pages"):
        read_regions(json.dumps([right | wrong]).encode())
