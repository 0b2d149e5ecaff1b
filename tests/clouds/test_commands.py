"""A cloud of four commands, each of which finds the machine's name in its environment."""

from pathlib import Path

import pytest

from bootlab.clouds.commands import CommandRental
from bootlab.errors import BootFailed
from bootlab.system import CommandCloud


def test_each_machine_has_a_name_of_its_own_and_is_deleted_once_it_was_ordered(tmp_path: Path) -> None:
    cloud = CommandCloud(
        kind="cloud",
        create=f"touch {tmp_path}/$BOOTLAB_NAME",
        address=f"[ -e {tmp_path}/$BOOTLAB_NAME ] && echo 192.0.2.7 more",
        delete=f"rm {tmp_path}/$BOOTLAB_NAME",
    )
    one, other = CommandRental(cloud), CommandRental(cloud)
    # Nothing was ordered: there is nothing to delete.
    one.end()
    assert one.look().address is None and one.console() == b""
    assert one.order() != other.order()
    assert (one.look().is_running, one.look().address) == (True, "192.0.2.7")
    one.end()
    assert [path.name for path in tmp_path.iterdir()] == [other.name]
    with pytest.raises(BootFailed, match=r"target\.delete"):
        one.end()
    with pytest.raises(BootFailed, match="switches a machine off"):
        other.restart()
