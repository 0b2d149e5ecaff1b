"""A root in kept RAM whose init says that it is ready: what is laid for that, and what its fstab says of the root."""

import pytest

from bootlab.build.root.file_tree import FileTree
from bootlab.build.root.kept_units import lay_kept_units
from bootlab.errors import InputError

TABLE = b"# /dev/vda / ext4\n/dev/vda / ext4 defaults 0 1\n/dev/vdb\t/data ext4 defaults 0 2\n"


def laid(table: bytes | None) -> FileTree:
    tree = FileTree()
    tree.add_directory("etc/rc2.d")
    if table is not None:
        tree.add_file("etc/fstab", table)
    lay_kept_units(tree)
    return tree


def test_the_ram_is_seen_to_and_changes_are_saved_when_ready_and_as_the_machine_is_shut_down() -> None:
    script = laid(None).find("etc/init.d/bootlab-kept")
    assert script is not None
    begins, ends = (
        next(line for line in script.data.decode().splitlines() if line.startswith(f"{word})"))
        for word in ("start", "stop")
    )
    assert begins.index("bootlab-kept settle") < begins.index("bootlab-kept save") and "settle" not in ends
    assert "etc/rc6.d/K01bootlab-kept" in laid(None) and "etc/fstab" not in laid(None)


def test_the_roots_line_of_fstab_names_no_disk_to_check_and_the_others_stay() -> None:
    table = laid(TABLE).find("etc/fstab")
    assert table is not None
    assert table.data == TABLE.replace(b"/dev/vda / ext4 defaults 0 1", b"overlay / overlay defaults 0 0")


def test_an_init_that_is_not_known_is_said_by_the_key() -> None:
    with pytest.raises(InputError, match=r"rootfs\.kept_ram\.settles: the root has neither systemd") as refused:
        lay_kept_units(FileTree())
    assert "bootlab-kept settle" in (refused.value.hint or "")
