"""What a package of bootlab carries besides Python: sources to build on its user's machine, examples, manual pages.

All else is in pyproject.toml; setuptools has no table for files that lie outside of the package.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
CARRIED = (
    "plugin",
    "guest",
    "patches",
    "examples",
    "scripts/setup",
    "scripts/apt-source",
    "docs/measured.json",
    "LICENSES",
)
"""Copied to bootlab/carried/, where bootlab/sources.py looks for them. plugin/ and some patches are GPL-2.0."""


PAGES = sorted(HERE.glob("debian/man/*.1"))
MADE_PAGES = Path("build") / "man"
"""Where they lie once they tell the version, from here: setuptools wants no other paths."""


class BuildWithSources(build_py):
    """setuptools' own step, which copies the package, and ours after it."""

    def run(self) -> None:
        if not PAGES:
            raise SystemExit(
                f"setup.py: error: {HERE / 'debian' / 'man'}: no manual pages there, which a package carries\n"
                "  hint: build it of a checkout, of an archive of one, or of an sdist made of these"
            )
        super().run()
        (HERE / MADE_PAGES).mkdir(parents=True, exist_ok=True)
        for page in PAGES:
            told = page.read_text(encoding="utf-8").replace("@VERSION@", self.distribution.get_version())
            (HERE / MADE_PAGES / page.name).write_text(told, encoding="utf-8")
        if self.editable_mode:
            return
        for name in CARRIED:
            source, target = HERE / name, Path(self.build_lib) / "bootlab" / "carried" / name
            if source.is_dir():
                shutil.copytree(
                    source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("build", "__pycache__")
                )
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)


setup(
    cmdclass={"build_py": BuildWithSources},
    data_files=[("share/man/man1", [str(MADE_PAGES / page.name) for page in PAGES])],
)
