"""docs/techniques.md: complete, and the page that a Markdown reader expects."""

import os
from pathlib import Path

from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.page.markdown import techniques_page
from bootlab.techniques.page.measured_figures import MeasuredFigure, read_measured

DOCS = Path(__file__).parents[3] / "docs"


def test_holds_every_technique_with_its_figures() -> None:
    page = techniques_page(load_catalogue())
    for technique in load_catalogue():
        assert f"\n### {technique.name}\n\nThis technique {technique.text.summary}.\n" in page
        assert f"| [{technique.name}](#{technique.name}) | {technique.text.risk.value} |" in page
        for source in technique.text.published:
            assert f"- **Published:** {source.figure} ({source.where})" in page
    assert page.endswith("\n")
    assert "\n\n\n" not in page


def test_the_page_in_docs_is_current() -> None:
    path = DOCS / "techniques.md"
    page = techniques_page(load_catalogue(), read_measured(DOCS / "measured.json").results)
    if os.environ.get("BOOTLAB_GOLDEN") == "write":
        path.write_text(page)
    assert path.read_text() == page, "make golden writes it anew"


def test_an_empty_catalogue_is_a_page_too() -> None:
    assert techniques_page([]).startswith("# Techniques\n")


def test_our_figure_stands_beside_theirs() -> None:
    ours = MeasuredFigure(
        technique="kernel_smp_off",
        system="microvm",
        kernel="6.12.117",
        clock="virtual",
        baseline_ns=61_600_000,
        saved_ns=12_345_678,
        spread_ns=1000,
        verdict="shorter",
        kernel_bytes_saved=188_000,
        command="bootlab try microvm.toml kernel_smp_off",
    )
    page = techniques_page(load_catalogue(), [ours])
    words = (
        "shorter: -12.3 ms of 61.6 ms, which moves by 0.001 ms, all of it execution and waiting, not confirmed by "
        "fresh boots, kernel -188 KB (microvm, 6.12.117, virtual clock)"
    )
    assert f"| SMP | 35.3 -> 9.1 ms | [kernel_smp_off](#kernel_smp_off) | {words} |" in page
    assert f"- **Measured here:** {words}" in page
    assert f"\nMeasured here: 1 of the {len(load_catalogue())}; the others" in page
    assert "| MODULES | -20 ms, -82 KB | [kernel_modules_off](#kernel_modules_off) | not measured yet |" in page
    # Of several techniques each has its figure or says that there is none.
    assert f"[cmdline_nosmp](#cmdline_nosmp) | kernel_smp_off: {words}; cmdline_nosmp: not measured yet |" in page


def test_a_figure_that_misleads_beside_theirs_says_so() -> None:
    page = techniques_page(load_catalogue())
    (row,) = [line for line in page.splitlines() if line.startswith("| fewer vCPUs |")]
    assert row.endswith(
        "(ours: on the virtual clock all vCPUs are one stream, which adds up what they do at the same time) |"
    )


def test_what_is_gone_says_why() -> None:
    page = techniques_page([])
    assert "- **SLOB**: removed in Linux 6.4" in page
    assert "removed in Linux 6.8" in page
