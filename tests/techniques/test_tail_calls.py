"""A function that ends in a call of another often jumps there, and a profile shows the other one in its place."""

import pytest

from bootlab.techniques.model.catalogue import load_catalogue

TAILS = [
    ("acpi_boot_table_init", "acpi_reserve_initial_tables"),
    ("bringup_nonboot_cpus", "cpuhp_bringup_mask"),
    ("debugfs_create_file", "__debugfs_create_file"),
    ("early_quirks", "early_pci_scan_bus"),
    ("early_trace_init", "init_events"),
    ("eval_map_work_func", "trace_event_eval_update"),
    ("load_module", "do_init_module"),
    ("lockup_detector_init", "lockup_detector_setup"),
    ("mark_rodata_ro", "ptdump_walk_pgd_level_checkwx"),
    ("mpparse_find_mptable", "smp_scan_config"),
    ("mpparse_parse_smp_config", "mpparse_get_smp_config"),
    ("proc_mkdir_data", "proc_register"),
    ("proc_sys_init", "sysctl_init_bases"),
    ("ptdump_walk_pgd_level_checkwx", "ptdump_walk_pgd_level_core"),
    ("ptdump_walk_user_pgd_level_checkwx", "ptdump_walk_pgd_level_core"),
    ("setup_boot_APIC_clock", "setup_APIC_timer"),
    ("univ8250_console_write", "serial8250_console_write"),
    ("x86_numa_init", "numa_init"),
]
"""Function -> what it jumps to and nobody else calls, in the code of Debian 12's and 13's amd64 kernels. Left out are
initcalls, whose names a profile knows, and targets such as mutex_unlock(), which end thousands of functions."""


@pytest.mark.parametrize(("function", "tail"), TAILS)
def test_a_technique_that_declares_a_function_declares_what_it_jumps_to(function: str, tail: str) -> None:
    declared = {one.name: one.removes for one in load_catalogue() if one.removes is not None}
    those = {name: removes for name, removes in declared.items() if function in removes.functions}
    assert those, f"no technique declares {function}"
    missing = [name for name, removes in those.items() if tail not in (*removes.functions, *removes.keeps)]
    assert not missing
