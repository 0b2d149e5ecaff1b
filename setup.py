"""What a package of bootlab carries besides Python: the sources that it builds on its user's machine, and examples.

All else is in pyproject.toml; setuptools has no table for files that lie outside of the package.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

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


class BuildWithSources(build_py):
    """setuptools' own step, which copies the package, and ours after it."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        here = Path(__file__).parent
        for name in CARRIED:
            source, target = here / name, Path(self.build_lib) / "bootlab" / "carried" / name
            if source.is_dir():
                shutil.copytree(
                    source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("build", "__pycache__")
                )
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)


setup(cmdclass={"build_py": BuildWithSources})
