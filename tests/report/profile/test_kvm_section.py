"""The page's section on exits: both figures apart, who exits, and a flame graph by each weight; nothing uncounted."""

from pathlib import Path

from bootlab.experiments.recorded_profiles import read_profile_run
from bootlab.price.host_model import read_host_model
from bootlab.report.profile.kvm_section import kvm
from bootlab.report.profile.page import profile_page
from tests.cli.conftest import write_profile_run


def test_the_section_is_there_where_exits_were_counted(tmp_path: Path) -> None:
    models = [read_host_model(name) for name in ("lean", "ibrs")]
    analysis = read_profile_run(write_profile_run(tmp_path, traps=True), models=models)
    content = kvm(analysis)
    assert content.count("<svg") == 4, "by exits, by pages, and by the price under each model"
    assert "1,234" in content and "start_kernel" in content and "pio_vmm" in content
    lean, ibrs = models
    for model in (lean, ibrs):
        assert f"{1234 * model.exit['pio_vmm'].ns / 1e6:.2f}" in content
    assert 'id="kvm"' in profile_page(analysis)


def test_a_profile_without_the_count_has_no_section(tmp_path: Path) -> None:
    analysis = read_profile_run(write_profile_run(tmp_path))
    assert kvm(analysis) == "" and 'id="kvm"' not in profile_page(analysis)
