"""What goes with an option, on a Kconfig tree with one of each case."""

from pathlib import Path

import pytest

from bootlab.build.source.option_dependencies import KconfigTree, load_kconfig
from bootlab.build.source.origin import SourceTree
from bootlab.build.source.toolchain import require_toolchain
from bootlab.errors import InputError

KCONFIG = """
mainmenu "Test"

config EXPERT
	bool "expert"

source "net/Kconfig"

config LIBRARY
	bool

config ACPI
	bool "ACPI"
config MPPARSE
	bool "tables" if ACPI
	default y

config PRINTK
	bool "messages" if EXPERT
	default y

choice
	prompt "preemption"
config NONE
	bool "none"
config FULL
	bool "full"
endchoice

config HZ
	int "ticks"
	range 50 1000
	default 100
config ROOM
	int "room" if ACPI
	depends on ACPI
	default 5
config LOW
	int "low"
config PORTS
	int "ports"
	range LOW 20 if ACPI
	range 1 8 if !ACPI
config NAME
	string "name"
config START
	hex "start"
	default 0x1000
"""

NETWORK = """
menu "Networking"
config NET
	bool "network"
	select LIBRARY
config IPV6
	bool "IPv6"
	depends on NET
endmenu
"""


def tree(tmp_path: Path, config: str) -> KconfigTree:
    (tmp_path / "Kconfig").write_text(KCONFIG)
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "Kconfig").write_text(NETWORK)
    with load_kconfig(config, SourceTree(tmp_path, "id", "6.12"), require_toolchain("x86_64")) as kconf:
        return KconfigTree(kconf)


def test_closure_leaves_all_as_it_is(tmp_path: Path) -> None:
    found = tree(tmp_path, "CONFIG_NET=y\nCONFIG_IPV6=y\nCONFIG_ACPI=y\n# CONFIG_MPPARSE is not set\n")
    before = found.on
    assert before == {"NET", "IPV6", "LIBRARY", "ACPI", "PRINTK", "NONE"}
    closure = found.closure("NET")
    assert (closure.lost, closure.gained) == ({"NET", "IPV6", "LIBRARY"}, set())
    assert found.closure("ACPI").gained == {"MPPARSE"}
    assert found.on == before
    assert found.closure("NET") == closure
    found.turn_off("NET")
    assert found.on == before - closure.lost


def test_what_can_be_turned(tmp_path: Path) -> None:
    found = tree(tmp_path, "CONFIG_NET=y\n")
    assert found.can_turn_off("NET")
    # Selected, behind another option, one of a choice, off.
    assert not any(found.can_turn_off(option) for option in ("LIBRARY", "PRINTK", "NONE", "ACPI"))
    assert found.turn_on("EXPERT")
    assert found.can_turn_off("PRINTK")
    assert not found.turn_on("NO_SUCH_OPTION")
    assert found.selectors("LIBRARY") == ("NET",)
    assert found.is_choice("NONE") and not found.is_choice("NET")


def test_turning_on(tmp_path: Path) -> None:
    found = tree(tmp_path, "CONFIG_EXPERT=y\nCONFIG_NET=y\n")
    before = found.on
    assert found.off() == ("ACPI", "FULL", "IPV6")
    assert not any(found.can_turn_on(option) for option in ("NET", "LIBRARY", "NO_SUCH_OPTION"))
    closure = found.closure("IPV6", on=True)
    assert (closure.lost, closure.gained) == (set(), {"IPV6"})
    # Another member of a choice takes the place of the one that was taken, for as long as it is asked for.
    closure = found.closure("FULL", on=True)
    assert (closure.lost, closure.gained) == ({"NONE"}, {"FULL"})
    assert found.on == before
    assert found.closure("NET").lost == {"NET", "LIBRARY"}
    assert found.turn_on("FULL")
    assert found.on == (before - {"NONE"}) | {"FULL"}


def test_place(tmp_path: Path) -> None:
    place = tree(tmp_path, "").place("IPV6")
    assert (place.files, place.prompt) == (("net/Kconfig",), "IPv6")
    assert place.menus[1:] == ("Networking", "network")


def test_a_tree_that_cannot_be_read(tmp_path: Path) -> None:
    source = SourceTree(tmp_path, "id", "6.12")
    with (
        pytest.raises(InputError, match=r"Linux 6.12: its Kconfig files"),
        load_kconfig("", source, require_toolchain("x86_64")),
    ):
        pass


def test_what_several_options_change_together(tmp_path: Path) -> None:
    found = tree(tmp_path, "CONFIG_NET=y\nCONFIG_IPV6=y\nCONFIG_EXPERT=y\nCONFIG_HZ=100\n")
    before = found.on
    assert found.changes({"NET": "n", "HZ": "250", "FULL": "y", "NONE": "n", "NO_SUCH_OPTION": "y"}) == {
        "FULL": ("n", "y"),
        "HZ": ("100", "250"),
        "IPV6": ("y", "n"),
        "LIBRARY": ("y", "n"),
        "NET": ("y", "n"),
        "NONE": ("y", "n"),
    }
    # Nothing of it stays, and what is not granted changes nothing.
    assert found.changes({}) == {}
    assert found.closure("NET").lost == {"NET", "IPV6", "LIBRARY"}
    assert found.on == before
    assert found.changes({"LIBRARY": "n"}) == {}


def test_a_value_is_given_if_kconfig_grants_it(tmp_path: Path) -> None:
    found = tree(tmp_path, "CONFIG_NET=y\nCONFIG_EXPERT=y\nCONFIG_HZ=100\n")
    assert found.give("HZ", "250") and found.value("HZ") == "250"
    assert found.give("FULL", "y") and (found.value("FULL"), found.value("NONE")) == ("y", "n")
    assert found.give("NET", "n") and not found.on & {"NET", "LIBRARY"}
    before = found.on
    # Out of its range, no number, behind an option that is off, without a prompt, not there.
    assert not any(
        found.give(option, value)
        for option, value in (("HZ", "20"), ("HZ", "many"), ("ROOM", "3"), ("LIBRARY", "y"), ("NO_SUCH_OPTION", "1"))
    )
    assert (found.on, found.value("HZ"), found.value("ROOM")) == (before, "250", "n")


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("HZ", "250", None),
        ("HZ", "20", "HZ is from 50 to 1000"),
        ("HZ", "0x10", "HZ is a number"),
        ("HZ", "0250", "HZ is a number"),
        ("HZ", " 250", "HZ is a number"),
        ("HZ", "1_000", "HZ is a number"),
        ("ROOM", "-1", None),
        # Which of its ranges holds, and what another option's value is, may change yet.
        ("PORTS", "20", None),
        ("PORTS", "21", "PORTS is from LOW to 20 or from 1 to 8"),
        ("START", "0x10", None),
        ("START", "start", "START is a number such as 0x1000"),
        ("START", "1000", "START is a number such as 0x1000"),
        ("FULL", "y", None),
        ("FULL", "n", "FULL is one of several of which one must be taken: only y can be tried"),
        ("NET", "n", "NET is no number and no member of a choice"),
        ("NAME", "a", "NAME is no number and no member of a choice"),
        ("NO_SUCH_OPTION", "y", "it has no option NO_SUCH_OPTION"),
    ],
)
def test_a_value_that_an_option_never_has(option: str, value: str, said: str | None, tmp_path: Path) -> None:
    assert tree(tmp_path, "").refusal(option, value) == said
