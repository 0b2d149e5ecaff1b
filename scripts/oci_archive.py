"""A root file system as an OCI archive, and back: one layer, a configuration, a manifest, an index.

    python3 scripts/oci_archive.py ROOT.tar OUT.tar --architecture amd64 --name bootlab --command bootlab
    python3 scripts/oci_archive.py --unpack OUT.tar | tar --extract

The OCI image format's specification 1.1 (image-layout.md, manifest.md, config.md). The same root gives the same bytes.
"""

import argparse
import gzip
import hashlib
import io
import json
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import IO, Any

_BLOCK = 1 << 20
_LEVEL = 6
_TYPE = "application/vnd.oci.image"


class _Hashing:
    """A file that is written to and hashed on the way."""

    def __init__(self, file: IO[bytes] | None = None) -> None:
        self._file = file
        self._hash = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> int:
        self._hash.update(data)
        self.size += len(data)
        return self._file.write(data) if self._file is not None else len(data)

    def flush(self) -> None:
        if self._file is not None:
            self._file.flush()

    @property
    def digest(self) -> str:
        return f"sha256:{self._hash.hexdigest()}"


def pack(root: Path, out: Path, *, architecture: str, name: str, command: list[str]) -> None:
    """Write the archive `out` of the tar archive `root`; `name` is what an engine calls the image."""
    with tempfile.TemporaryFile(dir=out.absolute().parent) as layer:
        plain, packed = _Hashing(), _Hashing(layer)
        with root.open("rb") as source, gzip.GzipFile("", "wb", _LEVEL, packed, mtime=0) as zipped:
            while block := source.read(_BLOCK):
                plain.write(block)
                zipped.write(block)
        config = _json(
            {
                "architecture": architecture,
                "os": "linux",
                "config": {
                    "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"],
                    "Cmd": command,
                    "WorkingDir": "/root",
                },
                "rootfs": {"type": "layers", "diff_ids": [plain.digest]},
            }
        )
        manifest = _json(
            {
                "schemaVersion": 2,
                "mediaType": f"{_TYPE}.manifest.v1+json",
                "config": _descriptor("config.v1+json", config),
                "layers": [{"mediaType": f"{_TYPE}.layer.v1.tar+gzip", "digest": packed.digest, "size": packed.size}],
            }
        )
        described = _descriptor("manifest.v1+json", manifest)
        described["annotations"] = {"org.opencontainers.image.ref.name": f"{name}:latest"}
        index = {"schemaVersion": 2, "mediaType": f"{_TYPE}.index.v1+json", "manifests": [described]}
        with tarfile.open(out, "w", format=tarfile.PAX_FORMAT) as archive:
            _add(archive, "oci-layout", _json({"imageLayoutVersion": "1.0.0"}))
            _add(archive, "index.json", _json(index))
            for blob in (config, manifest):
                _add(archive, f"blobs/sha256/{hashlib.sha256(blob).hexdigest()}", blob)
            layer.seek(0)
            head = tarfile.TarInfo(f"blobs/sha256/{packed.digest.removeprefix('sha256:')}")
            head.size, head.mode = packed.size, 0o644
            archive.addfile(head, layer)


def unpack(image: Path, out: IO[bytes]) -> None:
    """Write the root of an archive that `pack` made. Raises ValueError where a blob is not what its digest says."""
    with tarfile.open(image) as archive:
        index = json.loads(_blob(archive, "index.json"))
        manifest = json.loads(_checked(archive, index["manifests"][0]["digest"]))
        config = json.loads(_checked(archive, manifest["config"]["digest"]))
        (layer,) = manifest["layers"]
        file = archive.extractfile(_place(layer["digest"]))
        assert file is not None
        plain = _Hashing(out)
        with gzip.GzipFile(fileobj=file) as zipped:
            shutil.copyfileobj(zipped, plain, _BLOCK)
        if [plain.digest] != config["rootfs"]["diff_ids"]:
            raise ValueError(f"{image}: its layer is not the one that its configuration names")


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _descriptor(kind: str, blob: bytes) -> dict[str, Any]:
    digest = f"sha256:{hashlib.sha256(blob).hexdigest()}"
    return {"mediaType": f"{_TYPE}.{kind}", "digest": digest, "size": len(blob)}


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    head = tarfile.TarInfo(name)
    head.size, head.mode = len(data), 0o644
    archive.addfile(head, io.BytesIO(data))


def _place(digest: str) -> str:
    return f"blobs/{digest.replace(':', '/')}"


def _blob(archive: tarfile.TarFile, name: str) -> bytes:
    file = archive.extractfile(name)
    if file is None:
        raise ValueError(f"{name}: not a file in the archive")
    return file.read()


def _checked(archive: tarfile.TarFile, digest: str) -> bytes:
    data = _blob(archive, _place(digest))
    if f"sha256:{hashlib.sha256(data).hexdigest()}" != digest:
        raise ValueError(f"{digest}: the blob is another one")
    return data


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--unpack", action="store_true")
    parser.add_argument("--architecture", default="amd64")
    parser.add_argument("--name", default="root")
    parser.add_argument("--command", nargs="+", default=["/bin/sh"])
    asked = parser.parse_args()
    if asked.unpack:
        unpack(asked.root, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    elif asked.out is None:
        parser.error("OUT is missing")
    else:
        pack(asked.root, asked.out, architecture=asked.architecture, name=asked.name, command=asked.command)


if __name__ == "__main__":
    main()
