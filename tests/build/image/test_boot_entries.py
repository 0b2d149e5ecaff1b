"""Boot entries as loaders' own files have them: Debian's GRUB, Fedora's entries, systemd-boot."""

import pytest

from bootlab.build.image.boot_entries import (
    BootMenu,
    newest_first,
    parse_entry,
    parse_grub_environment,
    parse_grub_menu,
)

# As update-grub of Debian 12 writes it, shortened.
DEBIAN = """
if [ -s $prefix/grubenv ]; then
  set have_grubenv=true
  load_env
fi
if [ "${next_entry}" ] ; then
   set default="${next_entry}"
   set next_entry=
else
   set default="0"
fi
if [ "${recordfail}" = 1 ] ; then
  set timeout=30
else
  if [ x$feature_timeout_style = xy ] ; then
    set timeout_style=menu
    set timeout=5
  else
    set timeout=5
  fi
fi
menuentry 'Debian GNU/Linux' --class debian --class os $menuentry_id_option 'gnulinux-simple-71a8' {
	load_video
	insmod gzio
	if [ x$grub_platform = xxen ]; then insmod xzio; insmod lzopio; fi
	search --no-floppy --fs-uuid --set=root 71a8
	echo	'Loading Linux 6.1.0-50-amd64 ...'
	linux	/boot/vmlinuz-6.1.0-50-amd64 root=UUID=71a8 ro console=ttyS0,115200 quiet
	echo	'Loading initial ramdisk ...'
	initrd	/boot/initrd.img-6.1.0-50-amd64
}
submenu 'Advanced options for Debian GNU/Linux' $menuentry_id_option 'gnulinux-advanced-71a8' {
	menuentry 'Debian GNU/Linux, with Linux 6.1.0-49' --class debian $menuentry_id_option 'gnulinux-6.1.0-49' {
		linux	/boot/vmlinuz-6.1.0-49-amd64 root=UUID=71a8 ro
		initrd	/boot/early.cpio /boot/initrd.img-6.1.0-49-amd64
	}
}
menuentry "UEFI Firmware Settings" --id 'uefi-firmware' {
	fwsetup
}
"""
# As Fedora has it since release 30.
FEDORA = """
set default="${saved_entry}"
set timeout=1
set kernelopts="root=UUID=ab ro console=ttyS0"
insmod blscfg
blscfg
"""
ENTRY = """title Fedora Linux (6.11.4-301.fc41.x86_64) 41 (Cloud Edition)
version 6.11.4-301.fc41.x86_64
linux /vmlinuz-6.11.4-301.fc41.x86_64
initrd /initramfs-6.11.4-301.fc41.x86_64.img $tuned_initrd
options $kernelopts no_timer_check
id fedora-20241024-6.11.4
"""


def test_debians_menu() -> None:
    menu = parse_grub_menu(DEBIAN)
    assert menu.wait_s == 5 and menu.default == "0" and not menu.reads_entries
    assert [entry.title for entry in menu.entries] == ["Debian GNU/Linux", "Debian GNU/Linux, with Linux 6.1.0-49"]
    chosen = menu.chosen
    assert chosen is not None
    assert chosen.kernel == "/boot/vmlinuz-6.1.0-50-amd64" and chosen.initrds == ("/boot/initrd.img-6.1.0-50-amd64",)
    assert chosen.words == "root=UUID=71a8 ro console=ttyS0,115200 quiet" and chosen.identity == "gnulinux-simple-71a8"
    assert menu.entries[1].initrds == ("/boot/early.cpio", "/boot/initrd.img-6.1.0-49-amd64")


@pytest.mark.parametrize(
    "default",
    ["1>0", "gnulinux-advanced-71a8>gnulinux-6.1.0-49", "Advanced options for Debian GNU/Linux>0",
     "1>Debian GNU/Linux, with Linux 6.1.0-49", "1"],
)  # fmt: skip
def test_a_default_in_a_submenu_and_one_that_was_saved(default: str) -> None:
    by_name = parse_grub_menu(DEBIAN.replace('default="0"', f'default="{default}"')).chosen
    saved = parse_grub_menu(
        DEBIAN.replace('default="0"', 'default="saved"'), parse_grub_environment(f"# GRUB\nsaved_entry={default}\n")
    ).chosen
    assert by_name is not None and saved == by_name and by_name.kernel.endswith("-49-amd64")


@pytest.mark.parametrize("default", ["2", "uefi-firmware", "gnulinux-6.1.0-49", "7", "\N{SUPERSCRIPT TWO}", "9" * 5000])
def test_a_default_that_boots_nothing_leaves_the_first(default: str) -> None:
    # GRUB looks for a name in the menu alone, and not in those that are in it; the third starts no Linux.
    found = parse_grub_menu(DEBIAN.replace('default="0"', f'default="{default}"')).chosen
    assert found is not None and found.title == "Debian GNU/Linux"


def test_a_number_counts_entries_and_menus() -> None:
    entry = "menuentry 'Last' {\n linux /last\n}\n"
    found = parse_grub_menu(DEBIAN.replace('default="0"', 'default="3"') + entry).chosen
    assert found is not None and found.title == "Last"


def test_fedoras_entries_are_files() -> None:
    menu = parse_grub_menu(FEDORA)
    assert menu.reads_entries and menu.entries == () and menu.chosen is None and menu.wait_s == 1
    entry = parse_entry(ENTRY, "ab-6.11.4", menu.variables)
    assert entry.kernel == "/vmlinuz-6.11.4-301.fc41.x86_64" and entry.version == "6.11.4-301.fc41.x86_64"
    assert entry.initrds == ("/initramfs-6.11.4-301.fc41.x86_64.img",)
    assert entry.words == "root=UUID=ab ro console=ttyS0 no_timer_check"


def test_the_newest_entry_is_the_first() -> None:
    versions = ["6.9.1", "6.11.4", "6.10.12", "6.11.10"]
    entries = [parse_entry(f"version {version}\nlinux /a\n", version) for version in versions]
    assert [entry.version for entry in newest_first(entries)] == ["6.11.10", "6.11.4", "6.10.12", "6.9.1"]


def test_a_version_of_thousands_of_digits() -> None:
    entries = [parse_entry(f"version {version}\nlinux /a\n", "a") for version in ("2", "1" * 5000, "0003")]
    assert [len(one.version) for one in newest_first(entries)] == [5000, 4, 1]


def test_a_menu_that_hands_over_to_another_has_no_entries() -> None:
    text = "search.fs_uuid 71a8 root\nset prefix=($root)'/boot/grub'\nconfigfile $prefix/grub.cfg\n"
    assert parse_grub_menu(text).entries == ()


@pytest.mark.parametrize("text", ["", "menuentry", "menuentry 'a", "linux /a\n", "set timeout=abc", "}{}{", "\0\1\2"])
def test_what_is_no_menu_has_no_entries(text: str) -> None:
    assert parse_grub_menu(text) == BootMenu(variables=parse_grub_menu(text).variables)
