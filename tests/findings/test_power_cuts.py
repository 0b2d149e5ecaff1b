"""Power cuts: what was flushed stays, everything else may be lost, whole or in part, and nothing else changes."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.findings.power_cuts import PowerCut, cut_power, requests_of

# Sectors 0 to 3 are flushed at 50; 4 to 7 are written behind the flush was asked for, 8 to 11 are on their way at 100.
REQUESTS = """\
bootlab-requests 1
disk0 write 0 4 10 10 20 0
disk1 write 0 1 11 11 12 6144
disk0 write 4 4 35 35 45 2048
disk0 flush 0 0 30 30 50
disk0 read 0 8 55 55 60
disk0 write 8 4 90 90 120 4096
"""


def write_boot(folder: Path, requests: str = REQUESTS) -> None:
    (folder / "requests.txt").write_text(requests)
    (folder / "writes.bin").write_bytes(b"a" * 2048 + b"b" * 2048 + b"c" * 2048 + b"d" * 512)


def cut_at(folder: Path, cut: PowerCut) -> tuple[bytes, tuple[int, int]]:
    image = folder / "image"
    image.write_bytes(bytes(8192))
    counts = cut_power(folder, requests_of(folder, "disk0"), cut, image)
    return image.read_bytes(), counts


def test_what_was_flushed_stays_and_all_else_may_be_there_or_not(tmp_path: Path) -> None:
    write_boot(tmp_path)
    seen = set()
    for seed in range(200):
        image, (promised, lost) = cut_at(tmp_path, PowerCut(100, seed))
        assert image[:2048] == b"a" * 2048 and promised == 1 and 0 <= lost <= 2
        assert set(image[2048:4096]) <= set(b"b\0") and set(image[4096:6144]) <= set(b"c\0")
        assert image[6144:] == bytes(2048), "what another disk was asked for is not there"
        seen.add((image[2048:4096], image[4096:6144]))
        for sector in range(16):
            assert len(set(image[sector * 512 : sector * 512 + 512])) == 1, "a sector is whole"
    assert len(seen) > 10 and (b"b" * 2048, b"c" * 2048) in seen and (bytes(2048), bytes(2048)) in seen


def test_one_seed_is_one_outcome(tmp_path: Path) -> None:
    write_boot(tmp_path)
    assert cut_at(tmp_path, PowerCut(100, 7)) == cut_at(tmp_path, PowerCut(100, 7))


def test_before_a_flush_is_answered_nothing_is_promised(tmp_path: Path) -> None:
    write_boot(tmp_path)
    assert {cut_at(tmp_path, PowerCut(49, seed))[1][0] for seed in range(20)} == {0}
    assert cut_at(tmp_path, PowerCut(10, 1)) == (bytes(8192), (0, 0)), "and nothing was asked for at the first moment"
    assert cut_at(tmp_path, PowerCut(50, 1))[1][0] == 1


def test_a_disk_that_ignores_flushes_loses_what_it_promised(tmp_path: Path) -> None:
    write_boot(tmp_path)
    images = {cut_at(tmp_path, PowerCut(100, seed, ignores_flush=True))[0][:2048] for seed in range(50)}
    assert bytes(2048) in images


def test_a_boot_that_kept_nothing_or_too_little_is_refused(tmp_path: Path) -> None:
    write_boot(tmp_path, "bootlab-requests 1\ndisk0 write 0 4 10 10 20\n")
    with pytest.raises(InputError, match="was not kept"):
        requests_of(tmp_path, "disk0")
    write_boot(tmp_path)
    (tmp_path / "writes.bin").write_bytes(b"a" * 2047)
    with pytest.raises(InputError, match="ends within a write"):
        cut_at(tmp_path, PowerCut(60, 1))
