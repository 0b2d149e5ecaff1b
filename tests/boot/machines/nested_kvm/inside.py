"""Runs in the emulated machine, as its PID 1: bootlab's KVM code for real; what it found goes to the console as facts.

One process does it all, because starting Python takes seconds there.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bootlab.build.cache import Cache
from bootlab.cli.app import run
from bootlab.errors import BootlabError
from bootlab.targets.qemu.kvm import probe_kvm

OTHERS = Path("/verbs.json")
"""What another test's machine runs instead: name -> words."""
VERBS: dict[str, list[str]] = {
    "boot": ["boot", "/systems/debian.toml"],
    "fit": ["host", "fit", "--to", "/run/fitted.toml", "--name", "nested-host"],
    "compare": ["compare", "/systems/image.toml", "/systems/pvh.toml", "-n", "5"],
}


def tell(key: str, value: dict[str, Any]) -> None:
    """Say one fact: a line of JSON."""
    print(f"bootlab: fact {key} {json.dumps(value)}", flush=True)


def ask(*words: str) -> dict[str, Any]:
    """Run a verb with --json; gives its exit code and document, or its error.

    `beside` and one word more, a whole verb, come before a verb beside which that is run, in a process of its own.
    """
    if words[0] == "beside":
        asked = [sys.executable, "-m", "bootlab", *words[1].split(), "--json", "--runs", "/run/beside"]
        with subprocess.Popen(asked, stdout=subprocess.PIPE, text=True) as beside:
            found = ask(*words[2:])
            told, _ = beside.communicate()
        return {**found, "beside": {"code": beside.returncode, "document": json.loads(told or "null")}}
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            code = run([*words, "--json"])
    except BootlabError as error:
        return {"code": error.exit_code, "error": error.message}
    return {"code": code, "document": json.loads(out.getvalue())}


def main() -> None:
    # Files written by PID 1 of an initramfs would be nobody else's to read.
    os.umask(0o022)
    verbs = json.loads(OTHERS.read_text()) if OTHERS.exists() else VERBS
    for cpu in ("host", "max") if verbs is VERBS else ():
        probe = probe_kvm(cpu, Cache.default())
        tell(f"probe_{cpu}", {"works": probe.works, "reason": probe.reason})
    for name, words in verbs.items():
        began = time.monotonic()
        tell(name, {**ask(*words), "seconds": round(time.monotonic() - began, 1)})
    print("bootlab: check ok", flush=True)
    # The end of PID 1 is a panic; the host ends this machine.
    time.sleep(3600)


main()
