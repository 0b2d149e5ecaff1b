"""A root as an OCI archive: every blob is what its digest says, the same root gives the same bytes, and comes back."""

import hashlib
import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parent.parent.parent / "scripts/oci_archive.py"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "root.tar"
    with tarfile.open(path, "w") as archive:
        for name, text in (("./etc/hostname", b"guest\n"), ("./opt/data", bytes(3 << 20))):
            head = tarfile.TarInfo(name)
            head.size = len(text)
            archive.addfile(head, io.BytesIO(text))
    return path


def run(*words: str | Path) -> bytes:
    return subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, check=True).stdout


def packed(root: Path, out: Path) -> Path:
    run(root, out, "--architecture", "arm64", "--name", "mine", "--command", "bootlab")
    return out


def test_every_digest_is_that_of_its_blob(root: Path, tmp_path: Path) -> None:
    with tarfile.open(packed(root, tmp_path / "image.tar")) as archive:
        blobs = {one.name: archive.extractfile(one).read() for one in archive.getmembers()}  # type: ignore[union-attr]
    for name, data in blobs.items():
        if name.startswith("blobs/sha256/"):
            assert hashlib.sha256(data).hexdigest() == Path(name).name

    def read(descriptor: dict[str, Any]) -> Any:
        data = blobs[f"blobs/{descriptor['digest'].replace(':', '/')}"]
        assert len(data) == descriptor["size"]
        return json.loads(data) if descriptor["mediaType"].endswith("json") else data

    assert json.loads(blobs["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    (described,) = json.loads(blobs["index.json"])["manifests"]
    assert described["annotations"] == {"org.opencontainers.image.ref.name": "mine:latest"}
    manifest = read(described)
    config = read(manifest["config"])
    assert config["architecture"] == "arm64" and config["config"]["Cmd"] == ["bootlab"]
    assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(root.read_bytes()).hexdigest()}"]
    assert read(manifest["layers"][0])[:2] == b"\x1f\x8b"


def test_it_is_the_same_again_and_comes_back(root: Path, tmp_path: Path) -> None:
    first, second = (packed(root, tmp_path / name).read_bytes() for name in ("a.tar", "b.tar"))
    assert first == second
    assert run("--unpack", tmp_path / "a.tar") == root.read_bytes()


def test_a_damaged_archive_is_told(root: Path, tmp_path: Path) -> None:
    image = packed(root, tmp_path / "image.tar")
    data = image.read_bytes()
    image.write_bytes(data.replace(b'"Cmd"', b'"cmd"'))
    with pytest.raises(subprocess.CalledProcessError) as error:
        run("--unpack", image)
    assert b"the blob is another one" in error.value.stderr
