"""A container image's documents: which images an archive or a layout holds, one of them, its layers, all of it checked.

Two forms. What `docker save` writes has manifest.json, a list of images with the paths of their files. The OCI's layout
has index.json, descriptors that lead to blobs by their digest. Docker writes both into one archive since version 25;
then the former is read, which has the images' names. Every digest that either gives is compared with what is there.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any, Final

from bootlab.build.given_root.blobs import Blobs
from bootlab.build.given_root.image_config import ARCHITECTURES, ImageConfig, read_config
from bootlab.build.given_root.layers import LayeredTree
from bootlab.build.given_root.limits import MOST_JSON, Budget
from bootlab.build.given_root.tar_stream import ReadTar, read_members
from bootlab.errors import InputError
from bootlab.system.part import brief

DOCKER_LIST: Final = "manifest.json"
OCI_INDEX: Final = "index.json"
_INDEXES: Final = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
_MANIFESTS: Final = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
_CONFIGS: Final = ("application/vnd.oci.image.config.v1+json", "application/vnd.docker.container.image.v1+json")
_LAYER: Final = re.compile(
    r"application/vnd\.oci\.image\.layer\.(nondistributable\.)?v1\.tar(\+gzip|\+zstd)?"
    r"|application/vnd\.docker\.image\.rootfs\.(foreign\.)?diff\.tar(\.gzip|\.zstd)?"
)
_DIGEST: Final = re.compile(r"(sha256|sha512):([0-9a-f]{64}|[0-9a-f]{128})")
_HEX: Final = re.compile(r"[0-9a-f]{64}")
_NAMES: Final = ("io.containerd.image.name", "org.opencontainers.image.ref.name")
_ABOUT_ANOTHER: Final = "vnd.docker.reference.type"
_UNKNOWN: Final = "unknown"
_DEEPEST: Final = 4
_MOST_IMAGES: Final = 1000
_FEW: Final = 12
_SHORTEST_DIGEST: Final = 8


@dataclass(frozen=True, slots=True)
class Candidate:
    """One image of an archive."""

    names: tuple[str, ...]
    platform: str
    """As linux/arm64; empty where only its configuration says it."""
    digest: str
    config: str
    """The file with its configuration; of an OCI image its manifest tells it."""
    layers: tuple[str, ...] = ()
    docker: bool = True

    @property
    def about(self) -> str:
        """What tells it from others, for people."""
        return " ".join(filter(None, [self.names[0] if self.names else "", self.platform, self.digest[:19]]))


@dataclass(frozen=True, slots=True)
class ImageLayer:
    """`file`: its name among the blobs; `digest`: of that file, where one is given."""

    file: str
    digest: str
    unpacked: str
    """The digest of what it unpacks to, as the configuration has it."""


@dataclass(frozen=True, slots=True)
class ContainerImage:
    """One image: what its configuration says, and its layers from the lowest on."""

    candidate: Candidate
    config: ImageConfig
    layers: tuple[ImageLayer, ...]
    others: tuple[str, ...]
    """The platforms that it could be, too."""


def find_image(blobs: Blobs, choice: str | None, arch: str | None) -> ContainerImage:
    """Return the image that is meant: the only one, or the one of `choice`, a name, a platform or a digest.

    Of one image for several platforms that for `arch`, by default x86-64's. Raises InputError for a choice that means
    none or several, and for documents that are damaged, missing or of an unknown kind.
    """
    found = _candidates(blobs)
    chosen = [one for one in found if choice is None or _means(choice, one)]
    if not chosen:
        what = f"no image {brief(choice)!r} in it" if choice is not None and found else "no image in it"
        raise InputError(f"{blobs.where}: {what}", hint=_listed(found) or None)
    one, others = _of_one_platform(blobs.where, chosen, arch)
    return _open(blobs, one, others)


def lay_image(blobs: Blobs, image: ContainerImage, budget: Budget) -> tuple[LayeredTree, dict[str, int]]:
    """Return the files of an image, its layers laid over each other, and what of them is not kept -> of how many.

    Raises InputError for a layer that is not there, is damaged, or is not the one that the image names.
    """
    tree, left_out = LayeredTree(blobs.where), dict[str, int]()
    for number, layer in enumerate(image.layers, start=1):
        where = f"{blobs.where}: layer {number} of {len(image.layers)}"
        file = blobs.open(layer.file)
        if file is None:
            raise InputError(
                f"{where} is missing: {brief(layer.digest or layer.file)}",
                hint="save or copy the image again; a layer that an engine may not hand on is fetched by itself",
            )
        with file:
            if layer.digest:
                _expect_digest(file, layer.digest, where)
            read = ReadTar()
            tree.lay(read_members(file, where, budget, read), whiteouts=True)
        if f"sha256:{read.sha256}" != layer.unpacked:
            raise InputError(
                f"{where}: unpacks to sha256:{read.sha256[:12]}, and its image's configuration has "
                f"{brief(layer.unpacked)[:19]}: damaged, or another one's",
                hint="save or copy the image again",
            )
        for what, count in read.left_out.items():
            left_out[what] = left_out.get(what, 0) + count
    return tree, left_out


def _candidates(blobs: Blobs) -> list[Candidate]:
    listed = blobs.open(DOCKER_LIST)
    found: dict[str, Candidate] = {}
    each = _of_docker(blobs, listed) if listed is not None else _of_index(blobs)
    for one in each:
        old = found.get(one.digest)
        # One image may have several names.
        names = dict.fromkeys([*(old.names if old is not None else ()), *one.names])
        found[one.digest] = Candidate(tuple(names), one.platform, one.digest, one.config, one.layers, one.docker)
        if len(found) > _MOST_IMAGES:
            raise InputError(f"{blobs.where}: more than {_MOST_IMAGES} images in it")
    return list(found.values())


def _of_docker(blobs: Blobs, listed: IO[bytes]) -> Iterator[Candidate]:
    document = _json(listed, f"{blobs.where}: {DOCKER_LIST}")
    for item in document if isinstance(document, list) else [None]:
        config, layers = (item.get("Config"), item.get("Layers")) if isinstance(item, dict) else (None, None)
        names = (item.get("RepoTags") or []) if isinstance(item, dict) else []
        if not isinstance(config, str) or not _are_texts(layers) or not _are_texts(names):
            raise InputError(f"{blobs.where}: {DOCKER_LIST} does not list images as `docker save` does")
        data = _read(blobs, config, "its configuration")
        digest = hashlib.sha256(data).hexdigest()
        # The file is called after what is in it: HASH.json, or blobs/sha256/HASH.
        named = config.rpartition("/")[2].removesuffix(".json")
        if _HEX.fullmatch(named) and named != digest:
            raise InputError(
                f"{blobs.where}: {brief(config)} is not what its name says: sha256 {digest[:12]}",
                hint="save the image again",
            )
        about = _parsed(data, f"{blobs.where}: {brief(config)}")
        platform = _platform(about) if isinstance(about, dict) else ""
        yield Candidate(tuple(names), platform, f"sha256:{digest}", config, tuple(layers or ()))


def _of_index(blobs: Blobs) -> Iterator[Candidate]:
    file = blobs.open(OCI_INDEX)
    if file is None:
        raise InputError(f"{blobs.where}: neither {DOCKER_LIST} nor {OCI_INDEX} in it, as container images have one")
    index = _json(file, f"{blobs.where}: {OCI_INDEX}")
    yield from _described(blobs, index, f"{blobs.where}: {OCI_INDEX}", (), _DEEPEST)


def _described(blobs: Blobs, index: Any, where: str, names: tuple[str, ...], deep: int) -> Iterator[Candidate]:
    listed = index.get("manifests") if isinstance(index, dict) else None
    if not isinstance(listed, list):
        raise InputError(f"{where}: no list of manifests in it")
    for item in listed:
        digest, kind = _descriptor(item, where)
        notes = item.get("annotations") if isinstance(item.get("annotations"), dict) else {}
        about = item.get("platform") if isinstance(item.get("platform"), dict) else {}
        if _ABOUT_ANOTHER in notes or about.get("os") == _UNKNOWN:
            # What a builder attests of another one in the list.
            continue
        own = tuple(str(notes[name]) for name in _NAMES if notes.get(name)) or names
        if kind in _INDEXES:
            if deep == 0:
                raise InputError(f"{where}: lists of lists of images, more than {_DEEPEST} deep")
            inner = _parsed(_read(blobs, _blob(digest), digest, digest), f"{blobs.where}: {digest[:19]}")
            yield from _described(blobs, inner, f"{blobs.where}: {digest[:19]}", own, deep - 1)
        elif kind in _MANIFESTS:
            yield Candidate(own, _platform(about), digest, "", (), docker=False)
        else:
            raise InputError(
                f"{where}: {digest[:19]} is of the unknown type {brief(kind)!r}",
                hint="skopeo copy makes an image of a type that is known: oci:FOLDER or docker-archive:FILE",
            )


def _open(blobs: Blobs, one: Candidate, others: tuple[str, ...]) -> ContainerImage:
    if one.docker:
        config = read_config(_parsed(_read(blobs, one.config, ""), blobs.where), blobs.where)
        digests = [""] * len(one.layers)
        files: Sequence[str] = one.layers
    else:
        where = f"{blobs.where}: manifest {one.digest[:19]}"
        manifest = _parsed(_read(blobs, _blob(one.digest), one.digest, one.digest), where)
        if not isinstance(manifest, dict) or not isinstance(manifest.get("layers"), list):
            raise InputError(f"{where}: no list of layers in it")
        digest, kind = _descriptor(manifest.get("config"), where)
        if kind not in _CONFIGS:
            raise InputError(
                f"{where}: is no container image: its configuration is of the type {brief(kind)!r}",
                hint="what else registries keep (charts, signatures, disks) is not booted",
            )
        digests = []
        for item in manifest["layers"]:
            layer, kind = _descriptor(item, where)
            if _LAYER.fullmatch(kind) is None:
                raise InputError(
                    f"{where}: layer {layer[:19]} is of the unknown type {brief(kind)!r}",
                    hint="an encrypted one needs its key: skopeo copy --decryption-key",
                )
            digests.append(layer)
        config = read_config(_parsed(_read(blobs, _blob(digest), digest, digest), where), blobs.where)
        files = [_blob(layer) for layer in digests]
    unpacked = config.layers.diff_ids
    if len(unpacked) != len(files):
        raise InputError(
            f"{blobs.where}: {len(files)} layers, and its configuration has the digests of {len(unpacked)}: damaged",
            hint="save or copy the image again",
        )
    layers = (ImageLayer(*one) for one in zip(files, digests, unpacked, strict=True))
    return ContainerImage(one, config, tuple(layers), others)


def _of_one_platform(where: str, chosen: Sequence[Candidate], arch: str | None) -> tuple[Candidate, tuple[str, ...]]:
    if len(chosen) == 1:
        return chosen[0], ()
    platforms = [one.platform for one in chosen]
    if len({one.names for one in chosen}) == 1 and all(platforms) and len(set(platforms)) == len(chosen):
        wanted = [name for name, ours in ARCHITECTURES.items() if arch is None or ours == arch]
        for name in wanted:
            fits = [one for one in chosen if one.platform.split("/")[:2] == ["linux", name]]
            if len(fits) == 1:
                return fits[0], tuple(one.platform for one in chosen if one is not fits[0])
        if not any(one.platform.split("/")[1:2] == [name] for one in chosen for name in wanted):
            raise InputError(
                f"{where}: is for {', '.join(sorted(platforms)[:_FEW])}, and none of them is "
                f"{' or '.join(f'linux/{name}' for name in wanted)}",
                hint="skopeo copy --override-arch amd64 fetches another platform of it",
            )
    raise InputError(f"{where}: {len(chosen)} images in it, and which one is meant is not said", hint=_listed(chosen))


def _listed(found: Sequence[Candidate]) -> str:
    more = f"; and {len(found) - _FEW} more" if len(found) > _FEW else ""
    each = "; ".join(brief(one.about) for one in found[:_FEW])
    return (
        f"in it: {each}{more}. docker-archive:FILE:NAME, oci:PATH:NAME or rootfs.source_image say which"
        if found
        else ""
    )


def _means(choice: str, one: Candidate) -> bool:
    digest = choice.removeprefix("sha256:")
    by_digest = len(digest) >= _SHORTEST_DIGEST and one.digest.partition(":")[2].startswith(digest)
    by_platform = bool(one.platform) and choice in (one.platform, *one.platform.split("/")[1:2])
    return by_digest or by_platform or any(choice in _short_names(name) for name in one.names)


def _short_names(name: str) -> tuple[str, ...]:
    plain = name.removeprefix("docker.io/").removeprefix("library/")
    # Without a tag, too; a colon before a slash is a port's.
    folder, slash, last = plain.rpartition("/")
    return name, plain, f"{folder}{slash}{last.partition(':')[0]}"


def _platform(about: dict[str, Any]) -> str:
    parts = [about.get("os"), about.get("architecture"), about.get("variant")]
    return "/".join(part for part in parts if isinstance(part, str) and part)


def _descriptor(item: Any, where: str) -> tuple[str, str]:
    digest, kind = (item.get("digest"), item.get("mediaType")) if isinstance(item, dict) else (None, None)
    if not isinstance(digest, str) or _DIGEST.fullmatch(digest) is None or not isinstance(kind, str):
        raise InputError(f"{where}: names something without a type, or with a digest that is none: {brief(digest)}")
    return digest, kind


def _blob(digest: str) -> str:
    return f"blobs/{digest.replace(':', '/')}"


def _read(blobs: Blobs, name: str, what: str, digest: str = "") -> bytes:
    file = blobs.open(name)
    if file is None:
        raise InputError(f"{blobs.where}: {brief(what or name)} is missing", hint="save or copy the image again")
    with file:
        data = file.read(MOST_JSON + 1)
    if len(data) > MOST_JSON:
        raise InputError(f"{blobs.where}: {brief(name)}: more than {MOST_JSON >> 20} MiB, expected a document")
    if digest and hashlib.new(digest.partition(":")[0], data).hexdigest() != digest.partition(":")[2]:
        raise InputError(f"{blobs.where}: {digest[:19]} is not what its digest says", hint="copy the image again")
    return data


def _json(file: IO[bytes], where: str) -> Any:
    with file:
        data = file.read(MOST_JSON + 1)
    if len(data) > MOST_JSON:
        raise InputError(f"{where}: more than {MOST_JSON >> 20} MiB, expected a document")
    return _parsed(data, where)


def _parsed(data: bytes, where: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON: {brief(str(error))}", hint="save or copy the image again") from error


def _expect_digest(file: IO[bytes], digest: str, where: str) -> None:
    kind, _, wanted = digest.partition(":")
    found = hashlib.new(kind)
    while block := file.read(1 << 20):
        found.update(block)
    if found.hexdigest() != wanted:
        raise InputError(
            f"{where} is not what its digest says: {kind}:{found.hexdigest()[:12]} and not {digest[:19]}",
            hint="save or copy the image again",
        )
    file.seek(0)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
