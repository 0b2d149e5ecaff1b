"""What a guest program has an init start once a boot is done: of each init its own kind, and in its own place."""

import pytest

from bootlab.build.root.file_tree import FileTree
from bootlab.build.root.init_units import identify_units, lay_units


def root(*, systemd: bool = False, own: bool = False, scripts: bool = False) -> FileTree:
    tree = FileTree()
    if systemd:
        tree.add_file("lib/systemd/systemd", b"ELF")
    if own:
        tree.add_file("sbin/bootlab-init", b"ELF")
    if scripts:
        tree.add_directory("etc/rc2.d")
    return tree


def paths(tree: FileTree) -> set[str]:
    return {entry.path for entry in tree.entries()}


@pytest.mark.parametrize("program", ["readahead", "kept"])
def test_each_init_starts_it_by_its_own_kind_of_file(program: str) -> None:
    managed, own, scripts = root(systemd=True), root(own=True, scripts=True), root(scripts=True)
    assert all(lay_units(tree, program) for tree in (managed, own, scripts))
    service = managed.find(f"etc/systemd/system/bootlab-{program}.service")
    assert service is not None and b"After=multi-user.target\n" in service.data and b"@GOAL@" not in service.data
    assert f"etc/systemd/system/multi-user.target.wants/bootlab-{program}.service" in managed
    unit = own.find(f"etc/bootlab/units/bootlab-{program}.unit")
    assert unit is not None and b"\ndefer yes\n" in unit.data
    # bootlab-init may take scripts of the run level along: it would be started twice.
    assert f"etc/init.d/bootlab-{program}" not in own
    script = scripts.find(f"etc/init.d/bootlab-{program}")
    assert script is not None and script.mode & 0o111
    assert {f"etc/rc{level}.d/S99bootlab-{program}" for level in "2345"} <= paths(scripts)


def test_a_root_with_none_of_them_is_told_and_left_as_it_is() -> None:
    tree = root()
    assert not lay_units(tree, "kept") and not paths(tree)


def test_what_is_done_as_the_machine_is_shut_down_has_links_for_that() -> None:
    stops, not_asked = root(scripts=True), root(scripts=True)
    assert lay_units(stops, "kept", stops=True) and lay_units(not_asked, "kept")
    assert {path for path in paths(stops) - paths(not_asked) if "/K01bootlab-kept" in path} == {
        f"etc/rc{level}.d/K01bootlab-kept" for level in "016"
    }


def test_another_goal_wants_the_unit_and_all_that_is_laid_is_identified() -> None:
    tree = root(systemd=True)
    assert lay_units(tree, "kept", "graphical.target")
    assert "etc/systemd/system/graphical.target.wants/bootlab-kept.service" in tree
    assert len(set(identify_units("kept"))) == 3 and identify_units("kept") != identify_units("readahead")
