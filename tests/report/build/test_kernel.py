"""A kernel that was built: what its document says of options that its source does not know."""

from pathlib import Path

from bootlab.build.kernel.build import BuiltKernel
from bootlab.build.source.unknown_options import UnknownOption
from bootlab.report.build.kernel import KernelDocument, kernel_view

LOST = UnknownOption("RETPOLINE", "n", "old.config:3", "MITIGATION_RETPOLINE", "6.9", "aefb2f2e619b", "n", "y")
SET = UnknownOption("HAVE_OLD", "y", "old.config:4")


def built(folder: Path, *unknown: UnknownOption) -> BuiltKernel:
    """Return a kernel whose files are all there and small."""
    for name, text in (("bzImage", "image"), ("config", "CONFIG_SMP=y\nCONFIG_NET=m\n")):
        (folder / name).write_text(text)
    paths = {name: folder / name for name in ("vmlinux", "stripped", "system_map", "modules", "log")}
    return BuiltKernel(
        image=folder / "bzImage",
        config=folder / "config",
        decompressor=None,
        types=None,
        objects=None,
        release="6.12.0",
        seconds=3.0,
        from_cache=False,
        unknown=unknown,
        **paths,
    )


def test_options_that_the_source_does_not_know_are_listed(tmp_path: Path) -> None:
    view = kernel_view(built(tmp_path, LOST, SET), "x86_64", None)
    assert isinstance(view.document, KernelDocument)
    assert [one.model_dump() for one in view.document.unknown_options] == [
        {
            "option": "RETPOLINE",
            "value": "n",
            "by": "old.config:3",
            "renamed": "MITIGATION_RETPOLINE",
            "linux": "6.9",
            "commit": "aefb2f2e619b",
            "wanted": "n",
            "got": "y",
            "lost": True,
        },
        {
            "option": "HAVE_OLD",
            "value": "y",
            "by": "old.config:4",
            "renamed": None,
            "linux": None,
            "commit": None,
            "wanted": None,
            "got": None,
            "lost": False,
        },
    ]
    assert "         2 named that this source does not know, 1 of them lost by a rename" in view.lines
    assert not any("does not know" in str(line) for line in kernel_view(built(tmp_path), "x86_64", None).lines)
