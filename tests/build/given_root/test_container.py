"""Container images: both forms give the same files; whatever does not fit together is one clear sentence."""

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from bootlab.build.cache import Cache
from bootlab.build.given_root.given import GivenRoot, find_root
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from tests.build.given_root.images import OCI_INDEX, OCI_LAYER, Layout, config, docker_save, sha256, tar

LOWER = tar({"bin/": "", "bin/app": b"1", "etc/old": b"1"})
UPPER = tar({"bin/app": b"2", "etc/.wh.old": b""})
LAYERS = [LOWER, UPPER]
ABOUT = config(LAYERS, Cmd=["/bin/app"])
FILES = {"bin": b"", "bin/app": b"2", "etc": b""}


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(Cache(tmp_path / "cache"))


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path / "layout")


def files_of(root: GivenRoot) -> dict[str, bytes]:
    return {one.path: one.data for one in root.read().entries}


def refuses(root: GivenRoot, match: str) -> None:
    with pytest.raises(InputError, match=match) as caught:
        root.identity()
        root.read()
    assert str(root.path) in caught.value.message and "\n" not in caught.value.message


def test_both_forms_packed_or_not_give_the_same_files(shop: Workshop, layout: Layout, tmp_path: Path) -> None:
    folder = layout.write(layout.image(LAYERS, ABOUT, "one"))
    archive = layout.pack(tmp_path / "oci.tar")
    saved = docker_save(tmp_path / "saved.tar", {"app:1": (LAYERS, ABOUT)})
    packed = tmp_path / "saved.tar.zst"
    packed.write_bytes(zstandard.compress(saved.read_bytes()))
    roots = [find_root(shop, path) for path in (folder, archive, saved, packed)]
    for root in roots:
        assert root.is_container and files_of(root) == FILES
        read = root.read()
        assert read.config is not None and read.config.started.words == ("/bin/app",)
    # An image is known by its documents, wherever it lies.
    assert roots[0].identity() == roots[1].identity() != roots[2].identity() == roots[3].identity()


def test_layers_of_every_compression(shop: Workshop, layout: Layout) -> None:
    packs = iter([lambda data: (data, OCI_LAYER), lambda data: (zstandard.compress(data), f"{OCI_LAYER}+zstd")])
    folder = layout.write(layout.image(LAYERS, ABOUT, pack=lambda data: next(packs)(data)))
    assert files_of(find_root(shop, folder)) == FILES


def test_of_several_images_one_is_named(shop: Workshop, tmp_path: Path) -> None:
    other = [tar({"other": b""})]
    saved = docker_save(tmp_path / "x.tar", {"app:1": (LAYERS, ABOUT), "web/other:2": (other, config(other))})
    root = find_root(shop, saved)
    with pytest.raises(InputError, match="2 images in it, and which one is meant is not said") as caught:
        root.read()
    assert "app:1 linux/amd64 sha256:" in str(caught.value.hint) and "web/other:2" in str(caught.value.hint)
    for name in ("web/other:2", "web/other", sha256(config(other))[7:19]):
        assert files_of(find_root(shop, Path(f"docker-archive:{saved}:{name}"))) == {"other": b""}
    refuses(find_root(shop, Path(f"docker-archive:{saved}:nothing")), "no image 'nothing' in it")


def test_of_several_platforms_that_of_the_machine(shop: Workshop, layout: Layout) -> None:
    arm = [tar({"arm": b""})]
    nested = {
        "manifests": [
            layout.image(LAYERS, ABOUT, platform={"os": "linux", "architecture": "amd64"}),
            layout.image(arm, config(arm, "arm64"), platform={"os": "linux", "architecture": "arm64", "variant": "v8"}),
            layout.image([], config([]), platform={"os": "unknown", "architecture": "unknown"}),
        ]
    }
    folder = layout.write(layout.blob(json.dumps(nested).encode(), OCI_INDEX))
    read = find_root(shop, folder).read()
    assert {one.path for one in read.entries} == set(FILES)
    assert read.remarks == ("there are other platforms of it, too: linux/arm64/v8",)
    assert files_of(find_root(shop, folder, "aarch64")) == {"arm": b""}
    assert files_of(find_root(shop, Path(f"oci:{folder}:arm64"))) == {"arm": b""}
    refuses(find_root(shop, folder, "riscv64"), "none of them is")


@pytest.mark.parametrize(
    ("about", "match"),
    [
        (
            config(LAYERS, "s390x"),
            "is for linux/s390x, and bootlab boots container images for linux/amd64 and linux/arm64",
        ),
        (config(LAYERS, os="windows"), "is for windows/amd64"),
        (b"{}", "its configuration is none: architecture: missing"),
        (b"[" * 100_000, "not JSON"),
        (config([LOWER]), "2 layers, and its configuration has the digests of 1: damaged"),
        (config([UPPER, LOWER]), "layer 1 of 2: unpacks to sha256:.* another one's"),
    ],
)
def test_configurations_that_are_refused(shop: Workshop, tmp_path: Path, about: bytes, match: str) -> None:
    refuses(find_root(shop, docker_save(tmp_path / "x.tar", {"": (LAYERS, about)})), match)
    layout = Layout(tmp_path / "layout")
    refuses(find_root(shop, layout.write(layout.image(LAYERS, about))), match)


def test_blobs_that_are_missing_or_not_what_they_are_called(shop: Workshop, layout: Layout) -> None:
    folder = layout.write(layout.image(LAYERS, ABOUT, pack=lambda data: (data, OCI_LAYER)))
    root = find_root(shop, folder)
    place = layout.path(sha256(UPPER))
    place.write_bytes(UPPER + b"more")
    refuses(root, "layer 2 of 2 is not what its digest says")
    place.write_bytes(UPPER[:600])
    refuses(root, "layer 2 of 2 is not what its digest says")
    place.unlink()
    refuses(root, "layer 2 of 2 is missing: sha256:")
    layout.path(sha256(ABOUT)).write_bytes(ABOUT + b" ")
    refuses(root, "is not what its digest says")
    layout.path(sha256(ABOUT)).unlink()
    refuses(root, "sha256:.* is missing")
    (folder / "index.json").unlink()
    refuses(root, "neither manifest.json nor index.json")


def test_docker_archives_that_are_not_whole(shop: Workshop, tmp_path: Path) -> None:
    def saved(change: Callable[[Any], Any]) -> GivenRoot:
        return find_root(shop, docker_save(tmp_path / "x.tar", {"a": (LAYERS, ABOUT)}, change))

    refuses(saved(lambda listed: [{**listed[0], "Layers": ["gone/layer.tar", "x"]}]), "layer 1 of 2 is missing: gone")
    refuses(saved(lambda listed: [{**listed[0], "Layers": ["../../etc/passwd", "x"]}]), "leads out of the root")
    refuses(saved(lambda listed: {"not": "a list"}), "does not list images")
    refuses(saved(lambda listed: []), "no image in it")
    refuses(saved(lambda listed: [{**listed[0], "Config": "gone.json"}]), "its configuration is missing")
    whole = docker_save(tmp_path / "x.tar", {"a": (LAYERS, ABOUT)}).read_bytes()
    (tmp_path / "x.tar").write_bytes(whole[: len(whole) // 2])
    refuses(find_root(shop, tmp_path / "x.tar"), "neither manifest.json nor index.json|cut off or damaged")
    wrong = tar(
        {
            f"{'0' * 64}.json": ABOUT,
            "manifest.json": json.dumps([{"Config": f"{'0' * 64}.json", "Layers": []}]).encode(),
        }
    )
    (tmp_path / "x.tar").write_bytes(wrong)
    refuses(find_root(shop, tmp_path / "x.tar"), "is not what its name says")


def test_types_that_are_not_known(shop: Workshop, layout: Layout) -> None:
    encrypted = f"{OCI_LAYER}+gzip+encrypted"
    refuses(
        find_root(shop, layout.write(layout.image(LAYERS, ABOUT, pack=lambda data: (data, encrypted)))), "unknown type"
    )
    listed = layout.blob(b"{}", "application/vnd.docker.distribution.manifest.v1+prettyjws")
    refuses(find_root(shop, layout.write(listed)), "is of the unknown type '.*prettyjws'")
    layout.write({"mediaType": OCI_INDEX, "digest": "sha256:../../etc/passwd", "size": 1})
    refuses(find_root(shop, layout.folder), "with a digest that is none")
    inner = layout.blob(b'{"manifests": []}', OCI_INDEX)
    for _ in range(6):
        inner = layout.blob(json.dumps({"manifests": [inner]}).encode(), OCI_INDEX)
    layout.write(inner)
    refuses(find_root(shop, layout.folder), "lists of lists of images, more than 4 deep")


def test_layers_named_by_links_as_older_docker_does(shop: Workshop, tmp_path: Path) -> None:
    named = f"{sha256(ABOUT)[7:]}.json"
    listed = [{"Config": named, "RepoTags": ["a"], "Layers": ["one/layer.tar", "two/layer.tar"]}]
    files: list[tuple[str, bytes | str | tarfile.TarInfo]] = [
        (f"{'1' * 64}/layer.tar", UPPER),
        (named, ABOUT),
        ("one/layer.tar", LOWER),
        ("two/layer.tar", f"-> ../{'1' * 64}/layer.tar"),
        ("manifest.json", json.dumps(listed).encode()),
    ]
    (tmp_path / "x.tar").write_bytes(tar(files))
    assert files_of(find_root(shop, tmp_path / "x.tar")) == FILES
    files[3] = ("two/layer.tar", "-> layer.tar")
    (tmp_path / "x.tar").write_bytes(tar(files))
    refuses(find_root(shop, tmp_path / "x.tar"), "links lead in a circle")
    (tmp_path / "x.tar").write_bytes(tar([*files[:3], *files[4:], ("manifest.json", b"[]")]))
    refuses(find_root(shop, tmp_path / "x.tar"), "'manifest.json' is in it twice")


def test_nothing_is_written_to_what_was_given(shop: Workshop, layout: Layout, tmp_path: Path) -> None:
    layout.write(layout.image(LAYERS, ABOUT))
    archive = layout.pack(tmp_path / "oci.tar")
    before = (
        io.BytesIO(archive.read_bytes()).getvalue(),
        sorted(path.stat().st_mtime_ns for path in layout.folder.rglob("*")),
    )
    find_root(shop, archive).read()
    find_root(shop, layout.folder).read()
    assert before == (archive.read_bytes(), sorted(path.stat().st_mtime_ns for path in layout.folder.rglob("*")))
