"""bootchart's logs that are not packed: a folder of them as the tarball that it was made for, one alone by name.

A log alone has no header, and its neighbours say what is in it: it is refused with what to pack.
"""

import io
import re
import tarfile
from pathlib import Path
from typing import Final

from bootlab.importers.bootchart.proc_stat import parse_cpu, parse_process

LOGS: Final = (
    "header", "proc_stat.log", "proc_ps.log", "proc_diskstats.log", "taskstats.log", "paternity.log", "cmdline2.log",
    "kernel_pacct", "dmesg",
)  # fmt: skip
_SAMPLED: Final = LOGS[1:5]
_MOST_BYTES: Final = 64 * 1024 * 1024
_TIME = re.compile(rb"\d{1,12}\r?\n")
_DISK = re.compile(r" {0,8}\d{1,4} {1,8}\d{1,8} [a-z]{1,8}\w{0,12} \d{1,20} \d{1,20} ")
_ACCOUNT_BYTES: Final = 64
_ACCOUNT_VERSION: Final = 3


def pack_folder(folder: Path) -> bytes | None:
    """Return a folder of bootchart's logs as a tar archive; None for a folder that has none of the sampled ones."""
    if not any((folder / name).is_file() for name in _SAMPLED):
        return None
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name in LOGS:
            path = folder / name
            if path.is_file():
                with path.open("rb") as stream:
                    data = stream.read(_MOST_BYTES + 1)
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def log_alone(data: bytes) -> str | None:
    """Return which of bootchart's logs begins so; None for anything else."""
    if _is_accounts(data):
        return "kernel_pacct"
    head = _TIME.match(data)
    if head is None:
        return None
    row = data[head.end() : head.end() + 4096].split(b"\n")[0].decode(errors="replace")
    if parse_cpu(row) is not None:
        return "proc_stat.log"
    if parse_process(row) is not None:
        return "proc_ps.log"
    return "proc_diskstats.log" if _DISK.match(row) is not None else None


def _is_accounts(data: bytes) -> bool:
    # Records of acct(5), version 3: nothing but zeros and the version's byte says what they are.
    records = [data[at : at + _ACCOUNT_BYTES] for at in range(0, min(len(data), 4096), _ACCOUNT_BYTES)]
    whole = [record for record in records if len(record) == _ACCOUNT_BYTES]
    return len(whole) >= 2 and all(
        record[1] & 0x7F == _ACCOUNT_VERSION and record[0] < 0x40 and record[48:49].isascii() and record[48] > 0x20
        for record in whole
    )
