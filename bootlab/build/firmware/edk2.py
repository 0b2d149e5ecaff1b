"""OVMF from source: `FirmwareBuild` -> the firmware's code and its variables, in one entry of the cache.

Built as Debian's package is, without Secure Boot. EDK II's tools write below their own folder, so the build runs in one
of links to the source, with a copy of the tools in it, and nothing is kept of it but the firmware and the log.
"""

import json
import os
import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bootlab.build.source.make import PYTHON, BuildFailed, first_error, require_buildable
from bootlab.build.source.origin import SourceTree, require_source
from bootlab.build.source.toolchain import Toolchain, has_header, require_toolchain, require_tools
from bootlab.build.workshop import Workshop
from bootlab.process import ProgramFailed, stream
from bootlab.system import FirmwareBuild

_FORMAT: Final = 1
_TOOLS, _SETTINGS = "BaseTools", "Conf"
_OUTPUT: Final = "Build/OvmfX64/RELEASE_GCC"
_DEADLINE_S: Final = 3 * 3600.0
DEFINES: Final = {
    "CC_MEASUREMENT_ENABLE": "TRUE",
    "NETWORK_HTTP_BOOT_ENABLE": "TRUE",
    "NETWORK_IP6_ENABLE": "TRUE",
    "NETWORK_TLS_ENABLE": "TRUE",
    "TPM2_ENABLE": "TRUE",
}
"""Those of Debian's OVMF_CODE_4M.fd (debian/rules of edk2 2025.02-8)."""
_SETTINGS_OF_DEBIAN: Final = ("PcdUninstallMemAttrProtocol=TRUE",)
"""GRUB and shim of some years ago write to their own code."""
_COMPILED: Final = re.compile(r'^"\S*gcc" .* -c -o \S+ .* (\S+\.(?:c|nasm))$')


@dataclass(frozen=True, slots=True)
class BuiltFirmware:
    """A firmware that was built; every path is in one entry of the cache, never to be changed."""

    code: Path
    variables: Path
    log: Path
    """What its build wrote."""
    seconds: float
    """Host time that the build took, whenever that was."""
    from_cache: bool


def build_ovmf(shop: Workshop, build: FirmwareBuild) -> BuiltFirmware:
    """Return the OVMF that `build` describes, built unless the cache has it.

    Raises InputError (no such source, a patch that does not apply), MissingTool, BuildFailed, StoreError, Unreachable.
    """
    toolchain = require_toolchain("x86_64")
    patching = [("patch", "patch")] if build.patches else []
    absent = {} if has_header("uuid/uuid.h") else {"libuuid's headers": "uuid-dev"}
    programs = [("nasm", "nasm"), ("iasl", "acpica-tools"), ("g++", "g++"), (PYTHON, "python3"), *patching]
    require_tools(toolchain, {}, programs, what="firmware", absent=absent)
    source = require_source(shop, build)
    require_buildable(source, shop.cache)
    defines = {**DEFINES, **build.defines}
    key = json.dumps([_FORMAT, source.identity, toolchain.identity, sorted(defines.items())])
    entry = shop.cache.find("firmware", key)
    from_cache = entry is not None
    job = _FirmwareJob(shop, source, toolchain, defines)
    entry = entry or shop.cache.make("firmware", key, job.write)
    about = json.loads((entry / "build.json").read_text(encoding="utf-8"))
    return BuiltFirmware(
        entry / "code.fd", entry / "variables.fd", entry / "build.log", float(about["seconds"]), from_cache
    )


class _FirmwareJob:
    def __init__(self, shop: Workshop, source: SourceTree, toolchain: Toolchain, defines: dict[str, str]) -> None:
        self._shop = shop
        self._source = source
        self._toolchain = toolchain
        self._defines = defines

    def write(self, out: Path) -> None:
        self._shop.tell("building OVMF, about 1,500 files")
        began = time.monotonic()
        out.mkdir()
        work = out / "work"
        self._lay_out(work)
        jobs = str(len(os.sched_getaffinity(0)))
        log = out / "build.log"
        self._run(["make", "-C", work / _TOOLS / "Source" / "C", f"--jobs={jobs}"], work, log)
        words = [word for name, value in sorted(self._defines.items()) for word in ("-D", f"{name}={value}")]
        words += [word for setting in _SETTINGS_OF_DEBIAN for word in ("--pcd", setting)]
        program = work / _TOOLS / "BinWrappers" / "PosixLike" / "build"
        argv: list[str | Path] = [
            program,
            "-p",
            "OvmfPkg/OvmfPkgX64.dsc",
            "-a",
            "X64",
            "-t",
            "GCC",
            "-b",
            "RELEASE",
            "-n",
            jobs,
        ]
        self._run([*argv, *words], work, log)
        volumes = work / _OUTPUT / "FV"
        shutil.copyfile(volumes / "OVMF_CODE.fd", out / "code.fd")
        shutil.copyfile(volumes / "OVMF_VARS.fd", out / "variables.fd")
        shutil.rmtree(work)
        about = {"seconds": round(time.monotonic() - began, 1)}
        (out / "build.json").write_text(json.dumps(about) + "\n", encoding="utf-8")

    def _lay_out(self, work: Path) -> None:
        work.mkdir()
        for path in self._source.tree.iterdir():
            if path.name == _TOOLS:
                shutil.copytree(path, work / _TOOLS, symlinks=True)
            elif path.name not in (_SETTINGS, "Build"):
                (work / path.name).symlink_to(path)
        (work / _SETTINGS).mkdir()
        for template in (work / _TOOLS / _SETTINGS).glob("*.template"):
            shutil.copyfile(template, work / _SETTINGS / f"{template.stem}.txt")

    def _run(self, argv: list[str | Path], work: Path, log: Path) -> None:
        done = 0

        def on_line(line: str) -> None:
            nonlocal done
            if found := _COMPILED.match(line):
                done += 1
                self._shop.tell_compiled(done, Path(found[1]).name)

        environment = {
            "WORKSPACE": str(work),
            "EDK_TOOLS_PATH": str(work / _TOOLS),
            "CONF_PATH": str(work / _SETTINGS),
            "PACKAGES_PATH": "",
            "PYTHON_COMMAND": PYTHON,
            "PYTHONDONTWRITEBYTECODE": "1",
            "SOURCE_DATE_EPOCH": "0",
            "PATH": f"{work / _TOOLS / 'BinWrappers' / 'PosixLike'}:{os.environ.get('PATH', os.defpath)}",
        }
        try:
            # EDK II's programs look for the workspace from where they stand.
            stream(["env", "-C", work, *argv], on_line, log=log, env=environment, deadline_s=_DEADLINE_S)
        except ProgramFailed as error:
            if "No space left on device" in error.stderr or error.exit_status is None or error.exit_status < 0:
                raise
            # The folder is gone by the time that this is read.
            text = first_error(error.stderr.replace(f"{work}/", "").splitlines())
            raise BuildFailed(f"machine.firmware_build: {Path(argv[0]).name} failed\n  {text}") from error
