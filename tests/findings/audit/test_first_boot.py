"""What a cloud's image does when it boots, in a boot that is told here."""

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.build.formats.cpio import Entry
from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.first_boot import find_cloud_init, find_disk_growth, find_host_keys
from bootlab.findings.audit.process_costs import TaskCosts
from tests.findings.audit.test_before_kernel import image_system
from tests.findings.audit.told_boot import Story, analysis_of_the_boot

FILES = {
    "etc/cloud/cloud.cfg": b"users: [default]\n",
    "etc/cloud/cloud.cfg.d/90_dpkg.cfg": b"# by dpkg-reconfigure\ndatasource_list: [ NoCloud, Ec2 ]\n",
    "etc/cloud/cloud.cfg.d/95-mine.cfg": b"datasource_list: [ Ec2, NoCloud, None ]\n",
    "etc/cloud/templates/x.cfg": b"datasource_list: [ Azure ]\n",
}


def _tell() -> Story:
    story = Story()
    init = story.start(story.idler, "systemd", 1, "/sbin/init")
    script = story.start(init, "cloud-init-gen", 5, "/bin/sh /usr/lib/systemd/system-generators/cloud-init-generator")
    looks = story.start(script, "ds-identify", 6, "/bin/sh /usr/lib/cloud-init/ds-identify")
    story.run(looks, 30_000)
    story.exits(looks, script)
    story.exits(script, init)
    stage = story.start(init, "cloud-init", 10, "/usr/bin/python3 /usr/bin/cloud-init init")
    story.run(stage, 1_000_000)
    story.to(story.idler)
    story.rest(2_000_000)
    story.wake(stage, story.idler, "swapper/0-0;cpu_startup_entry;do_idle", 1)
    grow = story.start(stage, "growpart", 11, "/bin/sh /usr/bin/growpart /dev/vda 1")
    story.run(grow, 200_000)
    table = story.start(grow, "sfdisk", 12, "sfdisk --no-reread /dev/vda")
    story.run(table, 50_000)
    story.exits(table, grow)
    story.exits(grow, stage)
    resize = story.start(stage, "resize2fs", 13, "resize2fs /dev/vda1")
    story.run(resize, 300_000)
    story.exits(resize, stage)
    key = story.start(
        stage, "ssh-keygen", 14, "ssh-keygen -t rsa -N  -f /etc/ssh/ssh_host_rsa_key", "/usr/bin/ssh-keygen"
    )
    story.run(key, 5_000_000)
    story.exits(key, stage)
    shown = story.start(stage, "ssh-keygen", 15, "ssh-keygen -lf /etc/ssh/ssh_host_rsa_key.pub", "/usr/bin/ssh-keygen")
    story.run(shown, 10_000)
    story.exits(shown, stage)
    story.exits(stage, init)
    story.run(init, 10_000)
    story.mark("up")
    story.marks["ready"] = story.t_ns
    return story


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> AuditedBoot:
    folder = tmp_path_factory.mktemp("boot")
    said = (
        "Cloud-init v. 22.4.2 running\n[WARNING]: Calling 'http://10.0.2.2/id' failed [0/2s]\n"
        "[WARNING]: Calling 'None' failed [0/2s]: error [Pool(host='10.0.2.2', port=80): with url: /latest (Caused\n"
        "[WARNING]: Calling 'None' failed [1/2s]: error [Pool(host='10.0.2.2', port=80): with url: /latest (Caused\n"
        "[WARNING]: Calling 'None' failed [2/2s]: unexpected\n"
        "Generating public/private rsa key pair.\n"
    )
    (folder / "console.log").write_text(said)
    analysis = analysis_of_the_boot(folder, _tell(), image_system("default"))
    files = [Entry(path, stat.S_IFREG, data) for path, data in FILES.items()]
    return AuditedBoot(analysis, TaskCosts(analysis), rootfs=files)


def test_each_stage_of_cloud_init_with_all_that_it_started(evidence: AuditedBoot) -> None:
    found = find_cloud_init(evidence)
    assert found is not None and "ran 2 times" in found.what
    stage, looks, *vain, sources = found.items
    assert stage.what == "cloud-init init" and looks.what == "ds-identify"
    assert stage.cost_ns == 1_000_000 + 2_000_000 + 200_000 + 50_000 + 300_000 + 5_000_000 + 10_000 + 5 * 1_000
    assert (
        found.idle_ns == 2_000_000 and stage.detail == "2.0 ms of it idle, 2.0 in its own waits; with 5 that it started"
    )
    assert sources.what == "may ask 3 data sources"
    assert sources.detail == "Ec2, NoCloud, None: /etc/cloud/cloud.cfg.d/95-mine.cfg", "the last file has the last word"
    assert {one.what: one.detail for one in vain} == {
        "asked http://10.0.2.2/id in vain": "1 times",
        "asked http://10.0.2.2:80/latest in vain": "2 times",
        "asked an address that it does not name in vain": "1 times",
    }
    # It makes sshd's RSA key: with another technique sshd does not wait for that.
    assert found.technique is None


def test_a_key_that_is_made_is_named_with_its_type_and_what_makes_another(evidence: AuditedBoot) -> None:
    found = find_host_keys(evidence)
    assert found is not None and found.cost_ns == 5_000_000 and len(found.items) == 1
    assert found.items[0].what.startswith("ssh-keygen -t rsa") and "/usr/bin/cloud-init init" in found.items[0].what
    assert found.technique == "userspace_cloud_init_ed25519"


def test_what_grows_a_disk_is_named_once_with_what_it_started(evidence: AuditedBoot) -> None:
    found = find_disk_growth(evidence)
    assert found is not None
    assert [(one.what.split(",")[0], one.cost_ns) for one in found.items] == [
        ("resize2fs /dev/vda1", 300_000),
        ("/usr/bin/growpart /dev/vda 1", 251_000),
    ]
    assert found.cost_ns == 551_000


def test_a_boot_without_any_of_it_has_no_such_finding(tmp_path: Path) -> None:
    analysis = analysis_of_the_boot(tmp_path)
    evidence = AuditedBoot(analysis, TaskCosts(analysis))
    assert (find_cloud_init(evidence), find_host_keys(evidence), find_disk_growth(evidence)) == (None, None, None)


@pytest.mark.parametrize(
    ("words", "grows", "makes_key"),
    [
        ("/usr/bin/btrfs device scan --all-devices", False, False),
        ("/usr/bin/btrfs filesystem resize max /", True, False),
        ("/usr/sbin/sfdisk --dump /dev/vda", False, False),
        ("/usr/sbin/sfdisk --no-reread /dev/vda", True, False),
        ("/usr/lib/systemd/systemd-growfs /", True, False),
        ("/usr/bin/ssh-keygen -t ed25519 -N x -f /root/.ssh/id_ed25519", False, False),
        ("/usr/bin/ssh-keygen -q -t rsa -f /etc/ssh/ssh_host_rsa_key", False, True),
        ("/usr/bin/ssh-keygen -A", False, True),
    ],
)
def test_a_program_of_another_image_is_known_by_what_it_is_asked_for(
    words: str, grows: bool, makes_key: bool, tmp_path: Path
) -> None:
    story = Story()
    init = story.start(story.idler, "systemd", 1, "/sbin/init")
    one = story.start(init, words.split()[0].rpartition("/")[2], 5, words)
    story.run(one, 30_000)
    story.exits(one, init)
    story.mark("up")
    story.marks["ready"] = story.t_ns
    analysis = analysis_of_the_boot(tmp_path, story)
    evidence = AuditedBoot(analysis, TaskCosts(analysis))
    assert (find_disk_growth(evidence) is not None, find_host_keys(evidence) is not None) == (grows, makes_key)


def test_a_list_of_sources_is_read_in_either_form_of_yaml(evidence: AuditedBoot) -> None:
    block = b"datasource_list:\n  - NoCloud  # first\n  - ConfigDrive\n- None\nother: [x]\n"
    over_lines = b"datasource_list: [\n  Ec2,\n  None\n]\n"
    for text, told in ((block, "NoCloud, ConfigDrive, None"), (over_lines, "Ec2, None")):
        files = [Entry("etc/cloud/cloud.cfg", stat.S_IFREG, text)]
        found = find_cloud_init(replace(evidence, rootfs=files))
        assert found is not None
        assert f"{told}: /etc/cloud/cloud.cfg" in {one.detail for one in found.items}
