"""The timing guest on the virtual clock, where its count can be held to QEMU's; the verb on this host, whatever it is.

Under KVM it runs in test_kvm_nested.py.
"""

import os
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from bootlab.build.workshop import Workshop
from bootlab.errors import BootFailed
from bootlab.measure.host_fit.fit import INSTRUCTIONS
from bootlab.measure.host_fit.guest import Backing, hear_guest
from bootlab.measure.host_fit.samples import read_timed
from bootlab.price.classes import CLASSES
from bootlab.price.host_model import read_host_model
from bootlab.targets.qemu.kvm import probe_kvm

pytestmark = [pytest.mark.boot]

EXACT = ("-icount", "shift=0,sleep=off")
A_NS_A_TICK = "clock 2147483648 1 0"


@pytest.mark.promise("bootlab host fit")
def test_it_counts_its_instructions_as_qemu_does_and_times_every_class(shop: Workshop) -> None:
    """A tick is an instruction there, so each loop must take 1 ns for each that it says it has."""
    said = hear_guest(shop.cache, Backing.SMALL, "tcg", EXACT)
    with pytest.raises(BootFailed, match="finds no clock of KVM's"):
        read_timed(said)
    timed = read_timed(said.replace("clock 0 0 0", A_NS_A_TICK))
    for name in INSTRUCTIONS:
        assert statistics.median(timed.ns[name]) == pytest.approx(1.0, abs=0.02), name
    # Its own overhead is in what it times: some instructions for each.
    assert {*timed.ns} & {*CLASSES} == {*CLASSES} - {"hlt", "hypercall"} and timed.lacking == ("hypercall",)
    assert all(statistics.median(timed.ns[name]) < 20 for name in CLASSES if name in timed.ns)
    # Asleep until its timer, and no longer.
    assert timed.sleep_ns <= statistics.median(timed.ns["sleep"]) < timed.sleep_ns + 100
    assert statistics.median(timed.ns["pages"]) < 10 and statistics.median(timed.ns["rest_of_chunk"]) < 10


@pytest.mark.promise("bootlab host fit")
def test_this_host_is_fitted_or_the_reason_is_said(shop: Workshop, tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    words = [sys.executable, "-m", "bootlab", "host", "fit", "--to", str(path)]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, timeout=300, env={**os.environ, "NO_COLOR": "1"}
    )
    probe = probe_kvm("host", shop.cache)
    if probe.works:
        assert done.returncode == 0, done.stderr
        assert read_host_model(str(path)).exit["cpuid"].ns > 0
    else:
        assert done.returncode == 3, done.stdout + done.stderr
        assert "KVM does not work here" in done.stderr and not path.exists()
