"""Sweeps and studies as CSV: every boot, and sums that close."""

import csv
import io

from bootlab.report.compression.csv import compression_csv
from bootlab.report.sweep.csv import sweep_csv
from tests.report.sweep.results import MODELS, STUDY, SWEEP


def test_csv_has_every_boot_and_every_total() -> None:
    rows = list(csv.DictReader(io.StringIO(sweep_csv(SWEEP))))
    assert len(rows) == 27
    assert {row["vcpus"] for row in rows} == {"1", "2", "4"}
    for row in rows:
        phases = [int(row[name]) for name in row if name.endswith("_ns") and name not in ("ready_ns", "idle_ns")]
        assert len(phases) == 8
        assert sum(phases) == int(row["ready_ns"]) == int(row["instructions"]) + int(row["idle_ns"])
    rows = list(csv.DictReader(io.StringIO(sweep_csv(MODELS))))
    assert [row["rootfs.model"] for row in rows] == ["hdd", "ssd", "emmc"]
    rows = list(csv.DictReader(io.StringIO(compression_csv(STUDY))))
    measured = [row for row in rows if row["outcome"] == "ready"]
    assert len(measured) == 5 * 10 and len(rows) == 5 * 10 + 1
    for row in measured:
        load_ns = int(row["loaded_bytes"]) * 1000 / float(row["mb_s"]) + 2 * float(row["latency_us"]) * 1000
        assert int(row["load_ns"]) == round(load_ns)
        assert int(row["total_ns"]) == int(row["boot_ns"]) + int(row["load_ns"])


def test_each_boot_has_its_own_cpu_model() -> None:
    first, *rest = MODELS.cells
    other = first.model_copy(update={"boots": [one.model_copy(update={"cpu": "qemu64"}) for one in first.boots]})
    rows = list(csv.DictReader(io.StringIO(sweep_csv(MODELS.model_copy(update={"cells": [other, *rest]})))))
    assert [row["cpu"] for row in rows] == ["qemu64", "max", "max"]
