"""The capture of a boot: every frame, to the ns."""

from decimal import Decimal
from pathlib import Path

from dpkt import pcap

from bootlab.network.capture import Capture


def test_a_full_capture_counts_what_it_leaves_out(tmp_path: Path) -> None:
    one = Capture(tmp_path / "x.pcap", most_bytes=100)
    for number in range(3):
        one.add(number, b"a" * 60)
    one.close()
    assert one.left_out == 2
    with (tmp_path / "x.pcap").open("rb") as file:
        assert len(list(pcap.Reader(file))) == 1


def test_frames_come_back_with_their_times(tmp_path: Path) -> None:
    one = Capture(tmp_path / "x.pcap")
    one.add(930_323_842, b"a" * 60)
    one.add(12_345_678_901, b"b" * 1514)
    one.close()
    with (tmp_path / "x.pcap").open("rb") as file:
        assert list(pcap.Reader(file)) == [
            (Decimal("0.930323842"), b"a" * 60),
            (Decimal("12.345678901"), b"b" * 1514),
        ]
