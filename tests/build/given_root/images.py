"""Container images laid out as `docker save` and the OCI's image layout have them, and tar archives of their layers."""

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Files = Mapping[str, bytes | str | tarfile.TarInfo]
"""Name -> a file's bytes, a folder (the name ends in a slash), `-> TARGET` for a link, or a member as it is."""

OCI_LAYER = "application/vnd.oci.image.layer.v1.tar"
OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
OCI_INDEX = "application/vnd.oci.image.index.v1+json"
OCI_CONFIG = "application/vnd.oci.image.config.v1+json"
ELF_X86_64 = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00\x3e\x00" + bytes(44)


def tar(files: Files | Sequence[tuple[str, bytes | str | tarfile.TarInfo]]) -> bytes:
    """Return a tar archive of files, in their order; a name may come twice in a sequence of pairs."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, what in files.items() if isinstance(files, Mapping) else files:
            member, data = tarfile.TarInfo(name), b""
            member.mode = 0o755
            if isinstance(what, tarfile.TarInfo):
                member = what
                member.name = name
            elif isinstance(what, bytes):
                data, member.size = what, len(what)
            elif name.endswith("/"):
                member.type = tarfile.DIRTYPE
            else:
                member.type, member.linkname = tarfile.SYMTYPE, what.removeprefix("-> ")
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def member(kind: bytes, **about: Any) -> tarfile.TarInfo:
    """Return a member of a kind, such as tarfile.LNKTYPE, with what is said about it."""
    found = tarfile.TarInfo()
    found.type, found.mode = kind, 0o644
    for name, value in about.items():
        setattr(found, name, value)
    return found


def sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def config(layers: Sequence[bytes], architecture: str = "amd64", os: str = "linux", **process: Any) -> bytes:
    """Return the configuration of an image whose layers unpack to these archives."""
    document = {
        "architecture": architecture,
        "os": os,
        "config": process,
        "rootfs": {"type": "layers", "diff_ids": [sha256(layer) for layer in layers]},
        "history": [],
    }
    return json.dumps(document).encode()


def docker_save(
    path: Path, images: Mapping[str, tuple[Sequence[bytes], bytes]], change: Callable[[Any], Any] = lambda it: it
) -> Path:
    """Write an archive as `docker save` up to version 24 does: name -> layers and configuration."""
    files: dict[str, bytes] = {}
    listed = []
    for name, (layers, about) in images.items():
        named = f"{sha256(about)[7:]}.json"
        files[named] = about
        paths = []
        for layer in layers:
            paths.append(f"{sha256(layer)[7:]}/layer.tar")
            files[paths[-1]] = layer
        listed.append({"Config": named, "RepoTags": [name] if name else None, "Layers": paths})
    files["manifest.json"] = json.dumps(change(listed)).encode()
    path.write_bytes(tar(files))
    return path


class Layout:
    """An OCI image layout in a folder, as the image-spec says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "blobs/sha256").mkdir(parents=True)
        (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
        self.manifests: list[dict[str, Any]] = []

    def blob(self, data: bytes, kind: str, **more: Any) -> dict[str, Any]:
        """Add a blob; returns its descriptor."""
        digest = sha256(data)
        self.path(digest).write_bytes(data)
        return {"mediaType": kind, "digest": digest, "size": len(data), **more}

    def path(self, digest: str) -> Path:
        return self.folder / "blobs" / digest.replace(":", "/")

    def image(
        self,
        layers: Sequence[bytes],
        about: bytes,
        name: str = "",
        pack: Callable[[bytes], tuple[bytes, str]] = lambda data: (gzip.compress(data, mtime=0), f"{OCI_LAYER}+gzip"),
        **more: Any,
    ) -> dict[str, Any]:
        """Add an image; returns the descriptor of its manifest."""
        manifest = {
            "schemaVersion": 2,
            "mediaType": OCI_MANIFEST,
            "config": self.blob(about, OCI_CONFIG),
            "layers": [self.blob(*pack(layer)) for layer in layers],
        }
        notes = {"annotations": {"org.opencontainers.image.ref.name": name}} if name else {}
        return self.blob(json.dumps(manifest).encode(), OCI_MANIFEST, **notes, **more)

    def write(self, *manifests: dict[str, Any]) -> Path:
        """Write the index of these; returns the folder."""
        index = {"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": list(manifests)}
        (self.folder / "index.json").write_text(json.dumps(index))
        return self.folder

    def pack(self, path: Path) -> Path:
        """Write the layout as one tar archive."""
        with tarfile.open(path, "w") as archive:
            archive.add(self.folder, ".")
        return path
