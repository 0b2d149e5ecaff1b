"""What is laid over installed packages: a menu that is read back, a login, and an identity that can be forgotten."""

import stat

from bootlab.build.formats.cpio import Entry
from bootlab.build.image.boot_entries import parse_grub_menu
from bootlab.build.image.recipe import ImageRecipe
from bootlab.build.image.root_files import ROOT_UUID, kernel_words, lay_files
from bootlab.build.root.file_tree import FileTree

RELEASE = "6.1.0-50-cloud-amd64"


def root(*more: str) -> FileTree:
    shadow = Entry(
        "etc/shadow", stat.S_IFREG | 0o640, b"root:*:19000:0:99999:7:::\ndaemon:*:19000::::::\n", owner=(0, 42)
    )
    paths = ("etc/ssh/ssh_host_rsa_key", "etc/ssh/ssh_host_rsa_key.pub", "etc/ssh/sshd_config", *more)
    return FileTree([shadow, *(Entry(path, stat.S_IFREG | 0o600, b"x") for path in paths)])


def text(tree: FileTree, path: str) -> str:
    entry = tree.find(path)
    assert entry is not None, path
    return entry.data.decode()


def test_grubs_menu_boots_the_kernel_with_the_words_asked_for() -> None:
    tree, recipe = root(), ImageRecipe(menu_s=3, words="quiet", console="ttyS1")
    lay_files(tree, recipe, RELEASE)
    menu = parse_grub_menu(text(tree, "boot/grub/grub.cfg"))
    assert menu.wait_s == 3 and menu.chosen is not None
    assert menu.chosen.kernel == f"/boot/vmlinuz-{RELEASE}" and menu.chosen.initrds == (f"/boot/initrd.img-{RELEASE}",)
    assert menu.chosen.words == kernel_words(recipe) == f"root=UUID={ROOT_UUID} ro console=ttyS1 quiet"
    assert "console" not in kernel_words(ImageRecipe(console=""))


def test_root_needs_no_password_and_nobody_else_gets_in() -> None:
    tree = root()
    lay_files(tree, ImageRecipe(), RELEASE)
    assert text(tree, "etc/shadow") == "root::19000:0:99999:7:::\ndaemon:*:19000::::::\n"
    entry = tree.find("etc/shadow")
    assert entry is not None and (entry.mode, entry.owner) == (stat.S_IFREG | 0o640, (0, 42))


def test_a_first_boot_finds_no_identity() -> None:
    kept, clean = root("etc/machine-id"), root("etc/machine-id", "var/lib/systemd/random-seed")
    lay_files(kept, ImageRecipe(), RELEASE)
    lay_files(clean, ImageRecipe(first_boot_clean=True), RELEASE)
    assert text(kept, "etc/machine-id") == "x" and "etc/ssh/ssh_host_rsa_key" in kept
    assert text(clean, "etc/machine-id") == "" and "etc/ssh/sshd_config" in clean
    assert not any(path in clean for path in ("etc/ssh/ssh_host_rsa_key", "etc/ssh/ssh_host_rsa_key.pub"))
    assert "var/lib/systemd/random-seed" not in clean
    # Something must make them then: cloud-init, or a unit.
    unit = "etc/systemd/system/multi-user.target.wants/ssh-host-keys.service"
    assert unit in clean and "ssh-keygen -A" in text(clean, "etc/systemd/system/ssh-host-keys.service")
    cloud = root("usr/bin/cloud-init")
    lay_files(cloud, ImageRecipe(first_boot_clean=True), RELEASE)
    assert unit not in kept and unit not in cloud


def test_cloud_init_has_its_data_beside_it() -> None:
    tree, without = root("usr/bin/cloud-init"), root()
    lay_files(tree, ImageRecipe(), RELEASE)
    lay_files(without, ImageRecipe(), RELEASE)
    assert "instance-id:" in text(tree, "var/lib/cloud/seed/nocloud/meta-data")
    assert "var/lib/cloud/seed/nocloud/meta-data" not in without
