"""System files of machines that are asked: what they need not say, and what each mistake is called."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.system import ClockKind, System, read_system


def read(folder: Path, text: str) -> System:
    path = folder / "asked.toml"
    path.write_text(text)
    return read_system(path)


def test_little_has_to_be_said(tmp_path: Path) -> None:
    system = read(
        tmp_path, '[target]\nkind = "host"\nhost = "192.0.2.7"\nports = [22]\nbanners = [22]\nhttp = {80 = "/"}\n'
    )
    assert (system.clock.kind, system.booted.mark, system.machine.arch) == (ClockKind.OUTSIDE, "answered", "unknown")
    assert system.target is not None and system.target.kind == "host"
    assert system.target.asked_ports == (22, 80)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('kind = "host"\nhost = "a"\nports = [0]', r"target\.ports\.0"),
        ('kind = "host"\nhost = "a"\nports = [22, 22]', "twice"),
        ('kind = "host"\nhost = "a"\nping = false', "nothing is asked"),
        ('kind = "host"\nhost = "a b"', "is no host"),
        ('kind = "host"\nhost = "a"\nhttp = { 80 = "index" }', "is no path"),
        ('kind = "host"\nhost = "a"\nhttp = { 99999 = "/" }', "a port is 1 to 65535"),
        ('kind = "host"\nhost = "a"\nevery_ms = 0.5', "every_ms"),
        ('kind = "host"\nhost = "a"\npower_off = "true"', "nothing would switch it on"),
        ('kind = "host"\nhost = "a"\n[target.lines.x]\npattern = "y"', "exactly one of port"),
        ('kind = "host"\nhost = "a"\n[kernel]\nimage = "/dev/null"', r"kernel"),
        ('kind = "host"\nhost = "a"\n[check]\nconsole = "x"', "for a console"),
        ('kind = "host"\nhost = "a"\n[clock]\nkind = "wall"', 'kind = "outside"'),
        ('kind = "ec2"\nlaunch = { ImageId = "ami-1" }', "it has no InstanceType"),
        ('kind = "ec2"\nlaunch = { ImageId = "a", InstanceType = "b", MinCount = 3 }', "bootlab's own"),
        ('kind = "ec2"\naccess_key = "AKIA"\nlaunch = { ImageId = "a", InstanceType = "b" }', "access_key"),
        ('kind = "cloud"\ncreate = "true"\naddress = "true"', "delete"),
    ],
)
def test_each_mistake_is_named(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        read(tmp_path, f"[target]\n{text}\n")
