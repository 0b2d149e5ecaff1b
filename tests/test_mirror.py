"""Tests mirror the tree: every module has a test file of its own, or a reason here why another one is enough.

Reads source with `ast` only. What needs no file of its own, and why, is in CONTRIBUTING.md under Tests.
"""

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "bootlab"
TESTS = ROOT / "tests"
CLI = PACKAGE / "cli"
# Who asks one of these has asked all that it hands out.
REGISTRIES = {PACKAGE / "targets/registry.py"}

# The command line: verbs are run whole, by name, with what they share.
VERBS = {
    "cli/advise.py": "cli/profile/test_verb.py",
    "cli/app.py": "cli/test_cli.py",
    "cli/boot.py": "boot/machines/test_bad_boots.py",
    "cli/build/image.py": "boot/machines/test_images.py",
    "cli/build/bootloader.py": "boot/boards/test_board.py",
    "cli/bisect/states.py": "cli/bisect/test_verb.py",
    "cli/build/option_names.py": "cli/build/test_root.py",
    "cli/build/words.py": "cli/build/test_kernel.py",
    "cli/coldplug.py": "boot/verbs/test_coldplug.py",
    "cli/init.py": "boot/init/test_verbs.py",
    "cli/measure.py": "boot/verbs/test_verbs.py",
    "cli/options/arguments.py": "cli/test_cli.py",
    "cli/options/ledger.py": "cli/test_ledger.py",
    "cli/options/power_on.py": "boot/verbs/test_power_on.py",
    "cli/outside/ec2.py": "boot/verbs/test_ec2.py",
    "cli/outside/probe.py": "boot/machines/test_outside.py",
    "cli/packages/verb.py": "boot/verbs/test_packages.py",
    "cli/profile/boots.py": "cli/profile/test_verb.py",
    "cli/profile/evidence.py": "boot/verbs/test_audit.py",
    "cli/profile/real_machine.py": "serial/test_real_profile.py",
    "cli/profile/sweeps.py": "boot/profiles/test_verbs.py",
    "cli/snapshot/verb.py": "boot/verbs/test_snapshots.py",
    "cli/storm/verb.py": "boot/verbs/test_storm.py",
    "cli/study.py": "cli/test_sweep.py",
    "cli/terminal/files.py": "cli/build/test_root.py",
    "cli/terminal/showing.py": "cli/profile/test_verb.py",
    "cli/terminal/speech.py": "cli/test_sweep.py",
    "cli/try_.py": "cli/test_cli.py",
    "cli/unused.py": "boot/roots/test_debian_roots.py",
    "cli/watch/files.py": "cli/watch/test_verb.py",
    "cli/watch/loop.py": "cli/watch/test_verb.py",
    "cli/watch/output.py": "cli/watch/test_verb.py",
}
# What is shown: the words, tables and pages of one view, seen in what that view prints.
SHOWN = {
    "report/bisect/markdown.py": "cli/bisect/test_verb.py",
    "report/bisect/text.py": "cli/bisect/test_verb.py",
    "report/bisect/view.py": "cli/bisect/test_verb.py",
    "report/bisect/words.py": "cli/bisect/test_verb.py",
    "report/boots/ec2_boot_bench.py": "boot/verbs/test_ec2.py",
    "report/boots/steps_page.py": "report/boots/test_page.py",
    "report/boots/steps_text.py": "report/boots/test_text.py",
    "report/boots/steps_words.py": "report/boots/test_text.py",
    "report/boots/view.py": "cli/test_kinds.py",
    "report/build/bootloader.py": "boot/boards/test_board.py",
    "report/build/image.py": "boot/machines/test_images.py",
    "report/build/built_when.py": "boot/kernels/test_tiny_kernel.py",
    "report/build/root.py": "cli/build/test_root.py",
    "report/build/units.py": "boot/init/test_verbs.py",
    "report/cache.py": "cli/cache/test_verb.py",
    "report/catalogue.py": "cli/test_cli.py",
    "report/compression/csv.py": "report/sweep/test_csv.py",
    "report/compression/page.py": "cli/test_kinds.py",
    "report/compression/text.py": "cli/test_kinds.py",
    "report/compression/view.py": "cli/test_kinds.py",
    "report/compression/words.py": "cli/test_kinds.py",
    "report/exports/export.py": "cli/profile/test_verb.py",
    "report/gate/forms.py": "cli/gate/test_verb.py",
    "report/gate/text.py": "cli/gate/test_verb.py",
    "report/snapshot/text.py": "cli/test_kinds.py",
    "report/lives/page.py": "report/lives/test_text.py",
    "report/lives/view.py": "cli/test_kinds.py",
    "report/lives/words.py": "report/lives/test_text.py",
    "report/ledger/history_chart.py": "web/test_ledger_site.py",
    "report/ledger/index_page.py": "cli/test_publishing.py",
    "report/ledger/issue_table.py": "cli/test_publishing.py",
    "report/ledger/site_data.py": "web/test_ledger_site.py",
    "report/ledger/system_page.py": "cli/test_publishing.py",
    "report/profile/price_text.py": "cli/profile/test_verb.py",
    "report/ledger/text.py": "cli/test_ledger.py",
    "report/ledger/view.py": "cli/test_ledger.py",
    "report/findings/audit_text.py": "cli/test_audit.py",
    "report/findings/coldplug_text.py": "cli/test_kinds.py",
    "report/findings/packages_markdown.py": "cli/test_kinds.py",
    "report/findings/packages_text.py": "cli/test_kinds.py",
    "report/findings/packages_words.py": "cli/test_kinds.py",
    "report/findings/unused_text.py": "cli/test_kinds.py",
    "report/lists.py": "cli/test_cli.py",
    "report/parts/cautions.py": "report/boots/test_page.py",
    "report/parts/charts.py": "report/boots/test_page.py",
    "report/parts/html_tables.py": "report/boots/test_page.py",
    "report/parts/markup.py": "report/boots/test_page.py",
    "report/parts/sections.py": "report/boots/test_page.py",
    "report/parts/terminal_tables.py": "report/boots/test_text.py",
    "report/parts/whole_page.py": "report/boots/test_page.py",
    "report/profile/table_columns.py": "report/profile/test_page.py",
    "report/profile/pictures.py": "cli/profile/test_verb.py",
    "report/profile/sections.py": "cli/profile/test_verb.py",
    "report/profile/side_by_side_text.py": "report/profile/test_text.py",
    "report/profile/sweep_page.py": "report/profile/test_text.py",
    "report/profile/tables.py": "report/profile/test_page.py",
    "report/profile/time_blocks.py": "report/profile/test_page.py",
    "report/profile/view.py": "cli/profile/test_verb.py",
    "report/profile/waits.py": "report/profile/test_page.py",
    "report/recording/blocks.py": "importers/test_hostile.py",
    "report/recording/explanation.py": "cli/test_import_.py",
    "report/recording/page.py": "importers/test_hostile.py",
    "report/recording/side_by_side_page.py": "report/recording/test_side_by_side.py",
    "report/recording/side_by_side_text.py": "report/recording/test_side_by_side.py",
    "report/recording/view.py": "cli/test_import_.py",
    "report/storm/view.py": "cli/test_kinds.py",
    "report/sweep/view.py": "cli/test_kinds.py",
    "report/sweep/words.py": "report/sweep/test_text.py",
    "report/tailor/text.py": "cli/test_kinds.py",
    "report/trial/sections.py": "report/boots/test_page.py",
    "report/trial/text.py": "report/boots/test_text.py",
    "report/trial/view.py": "cli/test_kinds.py",
    "report/trial/words.py": "report/boots/test_page.py",
}
# Parts of what one other module does, tested through it, where it is decided whether they are right.
PARTS = {
    "measure/power_on.py": "boot/verbs/test_power_on.py",
    "targets/qemu/power_on.py": "boot/verbs/test_power_on.py",
    "build/board/bootloader.py": "build/board/test_card.py",
    "build/eviction/items.py": "build/eviction/test_survey.py",
    "build/board/device_tree.py": "build/board/test_card.py",
    "build/debian/apt.py": "build/debian/test_packages.py",
    "experiments/real_profile.py": "serial/test_real_profile.py",
    "experiments/real_unused.py": "serial/test_real_unused.py",
    "system/target/command.py": "system/target/test_target.py",
    "build/deployment/carried.py": "build/deployment/test_applied_files.py",
    "build/debian/package_records.py": "build/debian/test_packages.py",
    "ledger/bisect/boots.py": "cli/bisect/test_verb.py",
    "ledger/bisect/checkout.py": "ledger/bisect/test_commit_systems.py",
    "ledger/bisect/explaining.py": "boot/verbs/test_bisect.py",
    "ledger/bisect/kept_skips.py": "cli/bisect/test_verb.py",
    "ledger/bisect/procedure.py": "cli/bisect/test_verb.py",
    "ledger/bisect/result.py": "cli/bisect/test_verb.py",
    "ledger/bisect/state.py": "ledger/bisect/test_package_systems.py",
    "ledger/git.py": "ledger/test_commit.py",
    "ledger/gate/figures.py": "cli/gate/test_verb.py",
    "ledger/gate/making.py": "cli/gate/test_verb.py",
    "ledger/gate/result.py": "cli/gate/test_verb.py",
    "cli/gate/growth.py": "boot/verbs/test_gate.py",
    "build/formats/ext4.py": "build/root/test_rootfs.py",
    "build/formats/tar.py": "build/root/test_rootfs.py",
    "build/formats/sparse.py": "build/board/test_card.py",
    "build/formats/streams.py": "build/outputs/test_unpacked.py",
    "build/given_root/blobs.py": "build/given_root/test_container.py",
    "build/given_root/image_config.py": "build/given_root/test_container.py",
    "build/given_root/limits.py": "build/given_root/test_tar_stream.py",
    "build/image/contents.py": "build/image/test_survey.py",
    "targets/qemu/image_stages.py": "boot/machines/test_images.py",
    "build/kernel/given.py": "build/test_boot_files.py",
    "build/kernel/types.py": "build/kernel/test_build.py",
    "build/programs/cross_build.py": "build/programs/test_source_program.py",
    "build/programs/static_program.py": "boot/roots/test_static_program.py",
    "build/programs/symbols.py": "boot/roots/test_static_program.py",
    "build/root/images.py": "build/test_boot_files.py",
    "build/source/configure.py": "build/kernel/test_build.py",
    "build/source/make.py": "build/kernel/test_build.py",
    "build/source/toolchain.py": "build/kernel/test_build.py",
    "build/source/tree_content.py": "build/kernel/test_build.py",
    "clouds/ec2.py": "boot/verbs/test_ec2.py",
    "clouds/ec2_client.py": "boot/verbs/test_ec2.py",
    "probing/connections.py": "probing/test_asker.py",
    "probing/raw.py": "probing/test_asker.py",
    "targets/cloud/target.py": "targets/cloud/test_session.py",
    "targets/host/answers.py": "targets/host/test_session.py",
    "targets/host/signals.py": "targets/host/test_session.py",
    "targets/host/target.py": "targets/host/test_session.py",
    "build/units/unit_text.py": "build/units/test_service.py",
    "experiments/audits.py": "cli/test_audit.py",
    "experiments/family.py": "experiments/trial/test_judging.py",
    "experiments/importing.py": "cli/test_kinds.py",
    "experiments/recorded_profiles.py": "cli/profile/test_verb.py",
    "experiments/packages/result.py": "cli/test_kinds.py",
    "experiments/read_result.py": "cli/test_kinds.py",
    "experiments/sweep/profiles.py": "report/profile/test_text.py",
    "experiments/sweep/result.py": "experiments/sweep/test_boots.py",
    "experiments/tailor/ifdef_use.py": "experiments/tailor/test_unused_options.py",
    "experiments/tailor/kernel_trials.py": "experiments/tailor/test_rounds.py",
    "experiments/tailor/look.py": "experiments/tailor/test_rounds.py",
    "experiments/tailor/result.py": "cli/test_kinds.py",
    "experiments/trial/catalogue_figures.py": "cli/test_techniques.py",
    "build/kernel/order.py": "build/kernel/test_build.py",
    "cluster/compiling.py": "cluster/test_kernels.py",
    "cluster/sending.py": "cluster/test_place.py",
    "cluster/worker.py": "cluster/test_place.py",
    "findings/analysis.py": "cli/profile/test_verb.py",
    "findings/audit/finding.py": "findings/audit/test_kinds.py",
    "findings/audit/legacy_ptys.py": "findings/audit/test_kinds.py",
    "findings/coldplug_result.py": "cli/test_kinds.py",
    "findings/profile_document.py": "report/profile/test_text.py",
    "findings/technique_evidence.py": "experiments/trial/test_judging.py",
    "findings/unused_result.py": "cli/test_kinds.py",
    "importers/bootchart/proc_stat.py": "importers/bootchart/test_tarball.py",
    "importers/serial/console_recording.py": "importers/serial/test_grabserial.py",
    "importers/systemd/svg_axis.py": "importers/systemd/test_plot_svg.py",
    "experiments/snapshot/restoring.py": "cli/snapshot/test_restoring.py",
    "measure/boot.py": "targets/replay/test_target.py",
    "measure/record.py": "cli/test_kinds.py",
    "measure/record_files.py": "cli/profile/test_verb.py",
    "profile/recorded/chunks.py": "profile/recorded/test_reader.py",
    "profile/recorded/profile.py": "profile/recorded/test_reader.py",
    "profile/recorded/record_types.py": "profile/recorded/test_reader.py",
    "profile/tables/coverage.py": "profile/tables/test_initcalls.py",
    "profile/tables/plain_data.py": "profile/tables/test_activity.py",
    "profile/tree/time_on_cpu.py": "report/profile/test_tree_blocks.py",
    "symbols/link_map.py": "symbols/test_table.py",
    "system/board/model.py": "build/board/test_model.py",
    "system/board/setup.py": "system/board/test_layout.py",
    "system/booted.py": "system/test_file.py",
    "system/coldplug.py": "build/modules/test_coldplug_plan.py",
    "system/preload.py": "build/root/test_preload.py",
    "system/readahead.py": "build/root/test_readahead.py",
    "system/content.py": "cli/build/test_root.py",
    "system/kernel.py": "system/test_value.py",
    "system/part.py": "system/test_file.py",
    "system/source/build.py": "system/test_value.py",
    "system/source/program.py": "build/programs/test_source_program.py",
    "measure/host_fit/guest.py": "boot/machines/test_host_fit.py",
    "targets/qemu/kvm.py": "boot/machines/test_kvm_probe.py",
    "targets/replay/playing.py": "targets/replay/test_target.py",
    "targets/serial/reader.py": "targets/serial/test_port.py",
    "targets/serial/target.py": "targets/serial/test_session.py",
    "targets/target.py": "targets/replay/test_target.py",
    "targets/firecracker/identity.py": "targets/vmm/test_api.py",
    "targets/cloud_hypervisor/identity.py": "targets/vmm/test_api.py",
    "targets/vmm/disks.py": "targets/firecracker/test_configuration.py",
    "targets/vmm/target.py": "targets/firecracker/test_target.py",
    "system/target/vmm.py": "system/target/test_firecracker.py",
    "system/target/jail.py": "system/target/test_firecracker.py",
    "techniques/page/table_sections.py": "techniques/page/test_markdown.py",
    "timeline/recording.py": "importers/test_merging.py",
}

ELSEWHERE = VERBS | SHOWN | PARTS
DECISIONS = (
    ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.BoolOp, ast.comprehension, ast.match_case,
    ast.ExceptHandler,
)  # fmt: skip


def decides(tree: ast.Module) -> bool:
    """Tell whether a module has a branch or a loop: one without cannot go wrong in a way of its own."""
    return any(isinstance(node, DECISIONS) for node in ast.walk(tree))


def is_of_the_catalogue(tree: ast.Module) -> bool:
    """Tell whether a module holds rows of the catalogue: each goes through tests/techniques/test_contract.py."""
    targets: list[ast.expr] = [node.target for node in tree.body if isinstance(node, ast.AnnAssign)]
    targets += [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    return any(isinstance(target, ast.Name) and target.id == "TECHNIQUES" for target in targets)


def own_test(module: str) -> Path:
    """Return where the tests of a module lie, `module` being its path within the package."""
    path = TESTS / module
    return path.with_name(f"test_{path.name}")


def needs_a_test(module: str, source: str) -> bool:
    """Tell whether a module is of a kind that has to be tested in a file of its own, or listed here."""
    tree = ast.parse(source)
    return decides(tree) and not is_of_the_catalogue(tree) and not own_test(module).is_file()


def modules() -> list[str]:
    """Return the path of every module within the package; a folder's own `__init__` only says what it is for."""
    paths = (path for path in PACKAGE.rglob("*.py") if not path.name.startswith("__"))
    return sorted(str(path.relative_to(PACKAGE)) for path in paths)


@cache
def imported(path: Path) -> frozenset[Path]:
    """Return the files of the package and of the tests that a file imports, anywhere in it.

    A folder stands for what its `__init__` hands on.
    """
    found: set[Path] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            place = ROOT / name.replace(".", "/")
            if place.with_suffix(".py").is_file():
                found.add(place.with_suffix(".py"))
            elif place != PACKAGE and (handing_on := place / "__init__.py").is_file():
                found |= imported(handing_on)
    return frozenset(found)


def neighbours(paths: Iterable[Path]) -> set[Path]:
    """Return these modules, and all of their folders that they import by way of each other or of a registry."""
    waiting, found = [*paths], set[Path]()
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += [file for file in imported(path) if file.parent == path.parent or path in REGISTRIES]
    return found


def verbs_named_in(path: Path) -> set[Path]:
    """Return the verbs that a test file names in its strings: it runs them by these."""
    texts = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
    words = {word for text in texts if isinstance(text, str) for word in text.split()}
    names = {file: file.parent.name if file.stem == "verb" else file.stem.rstrip("_") for file in CLI.rglob("*.py")}
    return {file for file, name in names.items() if name in words}


def reached(test: Path) -> set[Path]:
    """Return the modules that a test file leans on: what it imports or runs as a verb, and one step of folders on.

    What tests share, in files beside them or in `conftest.py`, belongs to the test.
    """
    waiting, seen, direct = [test, *(folder / "conftest.py" for folder in test.parents)], set[Path](), set[Path]()
    while waiting:
        path = waiting.pop()
        if path in seen or not path.is_file() or TESTS not in path.parents:
            continue
        seen.add(path)
        direct |= {file for file in imported(path) if PACKAGE in file.parents} | verbs_named_in(path)
        waiting += imported(path)
    near = neighbours(direct)
    return neighbours(file for path in near for file in [path, *imported(path)])


def test_every_module_has_a_test_or_a_reason() -> None:
    """A new module comes with tests/<its folder>/test_<its name>.py, or a line above that names who tests it."""
    found = [name for name in modules() if needs_a_test(name, (PACKAGE / name).read_text())]
    assert not [f"bootlab/{name}: no {own_test(name).relative_to(ROOT)}" for name in found if name not in ELSEWHERE]


def test_every_reason_is_still_one() -> None:
    """A line for a module that is gone, has its own test or decides nothing would let the next one pass."""
    stale = [name for name in ELSEWHERE if not (PACKAGE / name).is_file()]
    stale += [name for name in {*modules()} & {*ELSEWHERE} if not needs_a_test(name, (PACKAGE / name).read_text())]
    assert not stale


@pytest.mark.parametrize("test", sorted({*ELSEWHERE.values()}))
def test_who_is_said_to_test_a_module_leans_on_it(test: str) -> None:
    """The file is there and imports the module, or what stands one step before it, or runs the verb."""
    path = TESTS / test
    assert path.is_file()
    assert not [name for name, other in ELSEWHERE.items() if other == test and PACKAGE / name not in reached(path)]


@pytest.mark.parametrize(
    ("source", "needed"),
    [
        ("x = 1\n", False),
        ("def f(a: int) -> int:\n    return a if a else 1\n", True),
        ("TECHNIQUES = tuple(x for x in y if x)\n", False),
        ("TECHNIQUES: Final = tuple(x for x in y if x)\n", False),
        ("def f() -> None:\n    for x in y:\n        print(x)\n", True),
    ],
)
def test_what_has_to_be_tested(source: str, needed: bool) -> None:
    """What neither branches nor repeats needs no test, nor do rows of the catalogue."""
    assert needs_a_test("timeline/no_such_module.py", source) == needed


def test_a_module_with_its_own_test_needs_no_reason() -> None:
    """The test lies where the module does."""
    assert not needs_a_test("timeline/phases.py", "x = [y for y in z]\n")
