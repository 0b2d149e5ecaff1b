"""Which packages are chosen, which are refused, and what is left of a recipe's list. Boots show that roots are made."""

import pytest

from bootlab.build.debian.installed_packages import InstalledPackages, read_installed_packages
from bootlab.build.root.followed_paths import FollowedPaths
from bootlab.errors import InputError
from bootlab.experiments.packages.without import choose, expect_allowed, expect_removable, left_of
from bootlab.findings.packages.package_costs import CostedPackages, cost_packages
from bootlab.system import BootClock, ClockKind, Rootfs
from tests.build.debian.debian_root_files import DebianRootFiles, Installed
from tests.findings.audit.told_boot import SYSTEM
from tests.findings.packages.told_packages import evidence_of, owners_of


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> CostedPackages:
    return cost_packages(evidence_of(tmp_path_factory.mktemp("boot")), owners_of(), archive_goes=False)


def _installed(packages: dict[str, Installed]) -> InstalledPackages:
    return read_installed_packages(FollowedPaths(DebianRootFiles(packages).entries()), "made-up")


def test_the_first_are_chosen_and_each_takes_more_along(found: CostedPackages) -> None:
    assert [row.name for row in found.costs.removable] == ["late", "udev", "kmod"]
    assert choose(found.costs, found.removals, 1) == ["late"]
    # Nothing but late's script runs modprobe: with it gone kmod saves nothing more.
    assert choose(found.costs, found.removals, 5) == ["late", "udev"]


def test_what_is_kept_or_not_there_is_refused(found: CostedPackages) -> None:
    installed = owners_of().installed
    expect_allowed(["late", "libudev1"], found.removals, installed)
    with pytest.raises(InputError, match="--remove dash: is kept: essential"):
        expect_allowed(["late", "dash"], found.removals, installed)
    with pytest.raises(InputError, match="--remove goal: is kept: its unit is the goal"):
        expect_allowed(["goal"], found.removals, installed)
    with pytest.raises(InputError, match="--remove evil: no such package"):
        expect_allowed(["evil"], found.removals, installed)


def test_only_a_root_that_packages_are_installed_in_can_be_made_without_some() -> None:
    exact = SYSTEM.model_copy(update={"clock": BootClock()})
    expect_removable(exact)
    for root in (None, Rootfs(packages=("busybox",)), Rootfs(directory="/")):
        with pytest.raises(InputError, match="made-up: its packages cannot be left out"):
            expect_removable(exact.model_copy(update={"rootfs": root}))
    with pytest.raises(InputError, match="on the virtual clock"):
        expect_removable(exact.model_copy(update={"clock": BootClock(kind=ClockKind.WALL)}))


def test_a_recipe_s_list_loses_names_that_stand_for_a_package_that_goes() -> None:
    installed = _installed(
        {
            "nginx-light": Installed(["/usr/sbin/nginx"], ["Provides: nginx, httpd"]),
            "apache2": Installed(["/usr/sbin/apache2"], ["Provides: httpd"]),
            "cron": Installed(["/usr/sbin/cron"]),
        }
    )
    listed = ["nginx", "httpd", "cron", "apache2"]
    assert left_of(listed, {"nginx-light"}, installed) == ("httpd", "cron", "apache2")
    assert left_of(listed, {"cron"}, installed) == ("nginx", "httpd", "apache2")
