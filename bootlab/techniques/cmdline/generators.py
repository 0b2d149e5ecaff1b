"""What systemd's generators do before it starts anything."""

from typing import Final

from bootlab.system import System
from bootlab.techniques.changes.command_line import kernel_words
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import line_vanishes, log_says
from bootlab.techniques.model.published import none_published
from bootlab.techniques.model.technique import Risk, Technique, Text

_VSOCK: Final = "NET: Registered PF_VSOCK protocol family"
_GENERATOR: Final = "systemd-ssh-generator"


def _asks_for_vsock(system: System, measured: Measured) -> str | None:
    if _GENERATOR not in measured.console:
        return f"the console of the baseline boot tells of no {_GENERATOR} that failed"
    return None if log_says(measured.facts, measured.console, _VSOCK) else "the baseline boot registered no PF_VSOCK"


TECHNIQUES = (
    Technique(
        name="cmdline_ssh_auto_off",
        text=Text(
            summary="keeps systemd from making sockets of its own by which sshd answers a hypervisor or a container",
            mechanism=(
                "Since 256 systemd-ssh-generator asks the kernel for the machine's AF_VSOCK address before any unit is "
                "started. The kernel loads vsock and a transport for each hypervisor that it knows, by modprobe, and "
                "the generator fails where there is none of them."
            ),
            cost="no ssh over AF_VSOCK, by /run/host/unix-export, or to the machine itself by /run/ssh-unix-local",
            risk=Risk.FUNCTION,
            published=(none_published("systemd 257, systemd-ssh-generator(8): systemd.ssh_auto="),),
        ),
        change=kernel_words("systemd.ssh_auto=no", _asks_for_vsock),
        proof=line_vanishes(_VSOCK),
    ),
)
