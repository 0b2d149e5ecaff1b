"""Which CPU a host has, by what Linux says of it: its model counts, and its flags in any order."""

from pathlib import Path

from bootlab.targets.vmm.host_cpu import read_cpu

CPU = "processor\t: 0\nvendor_id\t: A\nmodel name\t: Some CPU\nstepping\t: 2\nflags\t\t: fpu vme\n"


def test_which_cpu_a_host_has(tmp_path: Path) -> None:
    about = tmp_path / "cpuinfo"
    about.write_text(CPU)
    assert read_cpu(about)["CPU"] == "A / Some CPU / 2"
    about.write_text(CPU.replace("vme", "vme avx"))
    first = read_cpu(about)["CPU's flags"]
    about.write_text(CPU.replace("fpu vme", "avx vme fpu"))
    assert first == read_cpu(about)["CPU's flags"]
    assert read_cpu(tmp_path / "none")["CPU"] == "unknown"
