"""What systemd's generators ask the kernel for: when the technique applies, and what proves it."""

from dataclasses import replace

from bootlab.techniques.model.evidence import Effect, Evidence
from tests.techniques.asking import ALL, NOTHING, applied, why_not
from tests.techniques.userspace.test_cloud_init import image_system

NAME = "cmdline_ssh_auto_off"
HEAD = "[    0.000000] Linux version 6.12.117+deb13-cloud-amd64\n"
VSOCK = "[    6.077761] NET: Registered PF_VSOCK protocol family\n"
FAILED = (
    "[    6.373056] systemd-ssh-generator[232]: Failed to query local AF_VSOCK CID: Cannot assign requested address\n"
)


def test_a_machine_without_vsock_asks_for_none() -> None:
    assert "no systemd-ssh-generator that failed" in why_not(NAME, image_system(), replace(NOTHING, console=HEAD))
    assert "no PF_VSOCK" in why_not(NAME, image_system(), replace(NOTHING, console=HEAD + FAILED))
    changed = applied(NAME, image_system(), replace(NOTHING, console=HEAD + VSOCK + FAILED))
    assert "systemd.ssh_auto=no" in changed.kernel.cmdline.split()
    before, after = (Evidence({}, {}, {}, told, None) for told in (HEAD + VSOCK + FAILED, HEAD))
    prove = ALL[NAME].proof.prove
    assert prove(after, before) is Effect.PROVEN and prove(before, before) is Effect.NONE
