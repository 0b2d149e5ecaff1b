"""A host fitted by what guests said: figures, what has none, huge pages that were none, and what to doubt."""

import platform
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.measure.host_fit import fit, guest
from bootlab.measure.host_fit.guest import Backing
from bootlab.measure.host_fit.result import HostFit
from bootlab.measure.host_fit.samples import read_timed
from bootlab.price.classes import CLASSES, FAULT_2M, FAULT_4K
from bootlab.price.host_model import HostModel, read_host_model
from bootlab.targets.qemu.kvm import KvmProbe
from tests.measure.host_fit.said import said

Fitted = Callable[..., tuple[HostFit, HostModel]]


@pytest.fixture
def fitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fitted:
    """Return what fits a host on which guests say what they are told to."""
    monkeypatch.setattr(guest, "probe_kvm", lambda cpu, cache: KvmProbe(True, "works"))
    monkeypatch.setattr(guest, "read_free_pages", lambda: 0)
    monkeypatch.setattr(fit, "qemu_version", lambda: '10.0.2 ("here")')
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")

    def run(says: Mapping[Backing, str] | None = None) -> tuple[HostFit, HostModel]:
        plain = {Backing.DEFAULT: said(huge=True), Backing.SMALL: said(), Backing.READY: said(ns={"pages": 700.0})}
        texts = {**plain, **(says or {})}
        found = fit.fit_host(Cache(tmp_path), "mine", lambda _: None, lambda cache, backing: read_timed(texts[backing]))
        path = tmp_path / "mine.toml"
        path.write_text(found.model)
        return found, read_host_model(str(path))

    return run


def test_every_class_has_the_median_of_all_guests(fitted: Fitted) -> None:
    found, model = fitted()
    ns = {one.name: one.ns for one in found.figures}
    assert {ns[name] for name in CLASSES if name not in ("hlt", "mmio_lapic")} == {1000.0}
    # Late by 6,000, of which two registers of the local APIC take 500 each.
    assert (ns["mmio_lapic"], ns["hlt"]) == (500.0, 5000.0)
    assert (ns[FAULT_4K], ns[f"{FAULT_4K}, memory there"], ns[FAULT_2M]) == (2000.0, 700.0, 50000.0)
    assert ns["instruction"] == pytest.approx(0.4)
    assert not found.not_timed and (found.rules, found.memory) == ("svm", "2M")
    assert (model.name, model.rules, model.memory, model.instruction.ns) == ("mine", "svm", "2M", 0.4)
    assert (model.exit["hlt"].ns, model.fault.small.ns, model.fault.huge.ns) == (5000, 2000, 50000)
    assert model.exit["cpuid"].source == "timed: median of 60 batches, the middle half 1,000 to 1,000 ns"
    assert "table 0.4, branches 0.6, clearing 0.2" in model.instruction.source


def test_what_no_guest_could_time_is_leans_and_says_so(fitted: Fitted) -> None:
    lacking = {backing: said(lacks=("hypercall",), rules="vmx") for backing in Backing}
    found, model = fitted(lacking)
    lean = read_host_model("lean")
    assert found.not_timed.keys() == {"hypercall", FAULT_2M} and (found.rules, found.memory) == ("vmx", "4K")
    assert model.exit["hypercall"].ns == lean.exit["hypercall"].ns
    assert model.exit["hypercall"].source == "not timed: the guest got an exception for it; as in lean"
    assert model.fault.huge.ns == lean.fault.huge.ns and "no guest got huge pages" in model.fault.huge.source


def test_a_fault_of_a_chunk_is_never_less_than_one_of_a_page(fitted: Fitted) -> None:
    slow = {backing: said(ns={"pages": 90_000.0, "rest_of_chunk": 90_000.0}) for backing in Backing}
    _, model = fitted(slow)
    assert model.fault.small.ns == model.fault.huge.ns == 90_000


def test_what_does_not_leave_the_guest_is_the_least_that_a_model_has(fitted: Fitted) -> None:
    _, model = fitted({backing: said(ns={"mmio_lapic": 4.0}) for backing in Backing})
    assert model.exit["mmio_lapic"].ns == 10 and "it does not leave the guest here" in model.exit["mmio_lapic"].source


def test_guests_that_differ_and_outliers_are_doubted(fitted: Fitted) -> None:
    found, _ = fitted({Backing.SMALL: said(ns={"cpuid": 1500.0})})
    assert "cpuid: 1,000 ns by one guest and 1,500 by another" in found.cautions
    found, _ = fitted({backing: said(outliers=3) for backing in Backing})
    assert any("cpuid: 9 of 60 batches took over 3 times the median" in one for one in found.cautions)
