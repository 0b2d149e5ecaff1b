"""A date that is set in mid-run, in a guest of its own: no stamp of ours moves."""

from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import Outcome
from bootlab.system import read_system

pytestmark = [pytest.mark.boot, pytest.mark.network]

ROOT = Path(__file__).parents[2]
FILES = """__init__ errors importers/__init__ importers/console measure/__init__ measure/watch measure/wrong_baud
targets/__init__ targets/serial_port targets/serial_reader""".split()
SYSTEM = """
[machine]
type = "q35"
memory_mib = 768
[kernel]
package = "linux-image-cloud-amd64"
suite = "bookworm"
cmdline = "console=ttyS0 panic=-1 cryptomgr.notests edd=off"
[initramfs]
init = "{here}/init"
packages = ["grabserial"]
suite = "bookworm"
compression = "none"
[initramfs.files]
"/opt/steps.py" = "{here}/steps.py"
{files}
[booted]
mark = "ready"
deadline_s = 400
[check]
console = "bootlab: check ok"
deadline_s = 400
"""


def test_setting_the_date_moves_no_stamp(tmp_path: Path) -> None:
    files = "\n".join(f'"/opt/bootlab/{name}.py" = "{ROOT}/bootlab/{name}.py"' for name in FILES)
    path = tmp_path / "date.toml"
    path.write_text(SYSTEM.format(here=ROOT / "tests" / "serial" / "clock_step", files=files))
    (tmp_path / "boot").mkdir()
    record = boot(prepare(Workshop(Cache.default()), read_system(path)), tmp_path / "boot")
    assert record.outcome is Outcome.READY, record.detail
    ours = [float(word) for word in record.facts["watch_deltas"].split()]
    theirs = [float(word) for word in record.facts["grabserial_deltas"].split()]
    assert ours == pytest.approx([1.0] * 7, abs=0.05)
    # The step is real, and what stamps by the date shows it: an hour between two lines.
    assert max(theirs) == pytest.approx(3601, abs=0.5)
