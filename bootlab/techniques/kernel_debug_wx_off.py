"""Build without the search for writable code."""

from bootlab.techniques.build_options import LINUX_612, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import any_of, line_vanishes, never_runs
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_debug_wx_off",
    options=off("DEBUG_WX", "DEBUG_RODATA_TEST", "PTDUMP_DEBUGFS"),
    summary="leaves out the walk through all page tables that looks for code that can be written to",
    mechanism=(
        "At the end of boot ptdump walks every kernel page table entry, twice with page-table isolation, "
        "to warn of mappings both writable and executable."
    ),
    cost="a mistake in the protection of kernel memory is not reported",
    risk=Risk.NONE,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, mm/Kconfig.debug"),),
    shows=any_of(never_runs("ptdump_walk_pgd_level_checkwx"), line_vanishes("Checked W\\+X mappings")),
    watch=("ptdump_walk_pgd_level_checkwx",),
    removes=Removes(
        "search for writable code",
        functions=(
            "ptdump_walk_pgd_level_checkwx",
            "ptdump_walk_user_pgd_level_checkwx",
            "ptdump_walk_pgd_level_core",
            "rodata_test",
        ),
    ),
)
