"""Host models that live outside of the package: TOML files of the same form as bootlab's own (docs/price.md)."""

from pathlib import Path

from bootlab.extensions.folders import find_places


def find_host_models(folders: tuple[Path, ...] = ()) -> dict[str, Path]:
    """Return the host models of all extensions, those in `folders` among them: the name of the file -> the file.

    Of two of one name the first counts: what is installed comes before what a system file names.
    """
    found: dict[str, Path] = {}
    for place in find_places(folders):
        for file in sorted((place.folder / "host_models").glob("*.toml")):
            found.setdefault(file.stem, file)
    return found
