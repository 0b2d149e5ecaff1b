"""cloud-init on a disk image: to which images the techniques apply, what they write, and what boots must show."""

import re
import subprocess
from pathlib import Path

from bootlab.sources import EXAMPLES
from bootlab.system import DiskImage, System, read_system
from bootlab.techniques.model.evidence import Effect, Evidence, Measured
from bootlab.techniques.userspace.cloud_init import LATE, NO_GROWTH, TECHNIQUES
from tests.techniques.asking import ALL, applied, why_not

ED25519, LATER, ONCE = (ALL[f"userspace_cloud_init_{what}"] for what in ("ed25519", "late", "once"))
SOURCE, GROWTH = "userspace_cloud_init_one_source", "userspace_cloud_init_no_growth"
VAIN = "cloud-init[201]: url_helper.py[WARNING]: Calling 'http://10.0.2.2/id' failed [0/2s]: refused\n"
GREW = "[    9.115310] EXT4-fs (vda1): resized filesystem to 489979\n"
RUNS = "[  5.1] cloud-init[200]: Cloud-init v. 22.4.2 running 'init-local' at Thu. Up 5 seconds.\n"
KEYS = "cloud-init[201]: Generating public/private rsa key pair.\n"
SSHD = "[  OK  ] Started \x1b[0;1;39mssh.service\x1b[0m - OpenBSD Secure Shell server.\n"
FINISHED = "cloud-init[300]: Cloud-init v. 22.4.2 finished at Thu. Datasource DataSourceNoCloud.\n"
FIRST = RUNS + KEYS + SSHD + FINISHED
LOCAL = "[Unit]\nDescription=a\nBefore=network-pre.target\nBefore=shutdown.target\nBefore=sysinit.target\n"
SECOND = "[Unit]\nAfter=cloud-init-local.service\nBefore=sshd.service\nConflicts=shutdown.target\n[Service]\nX=1\n"
UNITS = {"cloud-init-local": LOCAL, "cloud-init": SECOND}


def image_system(**image: object) -> System:
    return System.model_validate(
        {
            "name": "image",
            "machine": {"type": "q35"},
            "image": DiskImage.model_validate({"path": Path("disk.img"), **image}),
            "booted": {"console": "login:"},
        }
    )


def measured(console: str = FIRST) -> Measured:
    return Measured({}, {}, {}, console)


def boot(console: str) -> Evidence:
    return Evidence({}, {}, {}, console, None)


def test_each_applies_to_an_image_whose_console_tells_of_cloud_init() -> None:
    plain = read_system(EXAMPLES / "debian-cloud.toml")
    for one in TECHNIQUES:
        assert "no disk image" in str(one.change.applies(plain, measured()))
        assert "tells of no " in str(one.change.applies(image_system(), measured("login:")))
    assert ED25519.change.applies(image_system(), measured()) is None


def test_files_of_several_stand_beside_each_other() -> None:
    keys = ED25519.change.apply(image_system(files={"/etc/motd": "hello"}), measured())
    assert keys.image is not None and len(keys.image.files) == 3 and keys.image.files["/etc/motd"] == "hello"
    assert "already" in str(ED25519.change.applies(keys, measured()))
    # Where cloud-init makes the keys that sshd needs it cannot come behind sshd.
    assert "userspace_cloud_init_ed25519" in str(LATER.change.applies(image_system(), measured()))
    assert LATER.change.applies(keys, measured()) is None
    assert LATER.change.applies(image_system(life=2), measured(RUNS + SSHD + FINISHED)) is None


def test_only_a_later_boot_can_do_without_it() -> None:
    assert "image.life = 2" in str(ONCE.change.applies(image_system(), measured()))
    assert ONCE.change.applies(image_system(life=2), measured()) is None


def test_the_source_that_was_found_is_listed_alone() -> None:
    assert "asked in vain" in why_not(SOURCE, image_system(), measured(FIRST))
    assert "a check waits for that" in why_not(SOURCE, image_system(), measured(RUNS + VAIN))
    for found, listed in (("NoCloudNet", "NoCloud, None"), ("Ec2Local", "Ec2, None"), ("None", "None")):
        changed = applied(SOURCE, image_system(), measured(RUNS + VAIN + FINISHED.replace("NoCloud", found)))
        assert changed.image is not None and [*changed.image.files.values()] == [f"datasource_list: [ {listed} ]\n"]
    prove = ALL[SOURCE].proof.prove
    before = boot(RUNS + VAIN + FINISHED)
    assert prove(boot(FIRST), before) is Effect.PROVEN and prove(before, before) is Effect.NONE
    assert prove(boot(RUNS), before) is Effect.NOT_SHOWN, "it ended before its last words"
    other = boot(FIRST.replace("DataSourceNoCloud", "DataSourceNone"))
    assert prove(other, before) is Effect.NOT_SHOWN, "it found no data, and is another instance now"


def test_a_root_that_grew_is_left_as_it_is() -> None:
    assert "no file system that grew" in why_not(GROWTH, image_system(), measured(FIRST))
    assert "no disk image" in why_not(GROWTH, read_system(EXAMPLES / "debian-cloud.toml"))
    changed = applied(GROWTH, image_system(), measured(RUNS + GREW))
    assert changed.image is not None and changed.image.files == NO_GROWTH
    prove = ALL[GROWTH].proof.prove
    before = boot(RUNS + GREW + FINISHED)
    assert prove(boot(FIRST), before) is Effect.PROVEN and prove(before, before) is Effect.NONE
    assert prove(boot(RUNS), before) is Effect.NOT_SHOWN, "it ended before it would have grown"


def test_keys_of_rsa_are_made_no_more() -> None:
    assert ED25519.proof.prove(boot(RUNS + SSHD + FINISHED), boot(FIRST)) is Effect.PROVEN
    assert ED25519.proof.prove(boot(FIRST), boot(FIRST)) is Effect.NONE
    assert ED25519.proof.prove(boot(RUNS), boot(FIRST)) is Effect.NOT_SHOWN, "it ended before its keys were due"


def test_keys_of_rsa_are_seen_by_their_fingerprints_where_nothing_else_tells() -> None:
    shown = "<14>Apr 13 19:38:35 cloud-init: {} SHA256:e2UzBcfg8urfSt68YTIvp//mWeLj root@debian ({})\n"
    rsa, ed25519 = shown.format(3072, "RSA"), shown.format(256, "ED25519")
    assert ED25519.proof.prove(boot(RUNS + ed25519 + FINISHED), boot(RUNS + rsa + ed25519 + FINISHED)) is Effect.PROVEN
    assert ED25519.proof.prove(boot(RUNS + rsa + FINISHED), boot(RUNS + rsa + FINISHED)) is Effect.NONE
    assert "userspace_cloud_init_ed25519" in str(LATER.change.applies(image_system(), measured(RUNS + rsa)))


def test_sshd_is_started_first() -> None:
    assert LATER.proof.prove(boot(SSHD + RUNS), boot(RUNS + SSHD)) is Effect.PROVEN
    assert LATER.proof.prove(boot(RUNS + SSHD), boot(RUNS + SSHD)) is Effect.NONE
    assert LATER.proof.prove(boot(SSHD), boot(RUNS + SSHD)) is Effect.NOT_SHOWN


def test_cloud_init_runs_no_more() -> None:
    assert ONCE.proof.prove(boot(SSHD), boot(RUNS + SSHD)) is Effect.PROVEN
    assert ONCE.proof.prove(boot(RUNS + SSHD), boot(RUNS + SSHD)) is Effect.NONE
    assert ONCE.proof.prove(boot(""), boot(RUNS + SSHD)) is Effect.NOT_SHOWN


def test_the_generator_takes_the_order_away_and_nothing_else(tmp_path: Path) -> None:
    packaged, early = tmp_path / "system", tmp_path / "early"
    packaged.mkdir()
    early.mkdir()
    for name, text in UNITS.items():
        (packaged / f"{name}.service").write_text(text)
    ((path, script),) = LATE.items()
    assert re.fullmatch(r"/etc/systemd/system-generators/[\w-]+", path)
    own = tmp_path / "generator"
    own.write_text(script.replace("/usr/lib/systemd/system", str(packaged)))
    subprocess.run(["sh", str(own), str(tmp_path), str(early), str(tmp_path)], check=True)
    assert {one.name for one in early.iterdir()} == {f"{name}.service" for name in UNITS}
    local, second = ((early / f"{name}.service").read_text() for name in UNITS)
    assert local == "[Unit]\nAfter=ssh.service\nDescription=a\nBefore=shutdown.target\n"
    assert second == (
        "[Unit]\nAfter=ssh.service\nAfter=cloud-init-local.service\nConflicts=shutdown.target\n[Service]\nX=1\n"
    )
