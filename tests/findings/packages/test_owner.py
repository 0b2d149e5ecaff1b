"""A file is of its package, of several, or of none."""

from bootlab.findings.packages.owner import Owner, OwnerKind, owner_of


def test_a_file_is_of_one_package_of_several_or_of_none() -> None:
    assert owner_of(("dash",), "usr/bin/dash") == Owner(OwnerKind.PACKAGE, "dash")
    assert owner_of(("bash", "dash"), "usr/bin/sh") == Owner(OwnerKind.SHARED, "bash, dash")
    assert owner_of((), "usr/local/bin/x") == Owner(OwnerKind.UNPACKAGED, "usr/local/bin/x")
