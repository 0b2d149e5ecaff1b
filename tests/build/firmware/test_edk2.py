"""The folder that EDK II is built in, what is kept of a build, and one that fails.

The tree is a small one whose `build` is a script of ours; tests/boot/machines/test_images.py builds the real OVMF.
"""

from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.firmware.edk2 import build_ovmf
from bootlab.build.source.make import BuildFailed
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.system import FirmwareBuild

BUILD = r"""#!/bin/sh
set -e
[ "$PWD" = "$WORKSPACE" ] && [ -e "$CONF_PATH/target.txt" ] && [ -e "$EDK_TOOLS_PATH/Source/C/made" ]
[ -e MdePkg/MdePkg.dec ] && [ ! -e Conf/of-the-tree ]
echo '"gcc" -g -c -o /x/A.obj -I/y /z/MdePkg/A.c'
mkdir -p Build/OvmfX64/RELEASE_GCC/FV
echo "$*" >Build/OvmfX64/RELEASE_GCC/FV/OVMF_CODE.fd
echo variables >Build/OvmfX64/RELEASE_GCC/FV/OVMF_VARS.fd
"""


def make_tree(root: Path, build: str = BUILD) -> Path:
    files = {
        "edksetup.sh": "",
        "MdePkg/MdePkg.dec": "",
        "OvmfPkg/OvmfPkgX64.dsc": "",
        "Conf/of-the-tree": "",
        "BaseTools/Conf/target.template": "",
        "BaseTools/Source/C/Makefile": "all:\n\ttouch made\n",
        "BaseTools/BinWrappers/PosixLike/build": build,
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "BaseTools/BinWrappers/PosixLike/build").chmod(0o755)
    return root


def test_a_firmware_is_built_once_and_the_tree_stays_as_it_is(tmp_path: Path) -> None:
    tree, told = make_tree(tmp_path / "tree"), list[str]()
    before = sorted(tree.rglob("*"))
    shop = Workshop(
        Cache(tmp_path / "cache"), tell=told.append, progress=lambda files, last: told.append(f"{files} {last}")
    )
    built = build_ovmf(shop, FirmwareBuild(source=tree, defines={"NETWORK_ENABLE": "FALSE", "TPM2_ENABLE": "FALSE"}))
    words = built.code.read_text()
    assert "-p OvmfPkg/OvmfPkgX64.dsc -a X64 -t GCC -b RELEASE" in words and "-D NETWORK_ENABLE=FALSE" in words
    assert "TPM2_ENABLE=FALSE" in words and "TPM2_ENABLE=TRUE" not in words and "NETWORK_IP6_ENABLE=TRUE" in words
    assert built.variables.read_text() == "variables\n" and not built.from_cache and "1 A.c" in told
    assert {one.name for one in built.code.parent.iterdir()} == {"code.fd", "variables.fd", "build.log", "build.json"}
    assert sorted(tree.rglob("*")) == before
    assert build_ovmf(
        shop, FirmwareBuild(source=tree, defines={"NETWORK_ENABLE": "FALSE", "TPM2_ENABLE": "FALSE"})
    ).from_cache
    assert build_ovmf(shop, FirmwareBuild(source=tree)).code.read_text() != words


def test_a_build_that_fails_shows_the_first_error(tmp_path: Path) -> None:
    script = "#!/bin/sh\necho /z/SecMain.c:7: error: no such thing\necho rest\nexit 1\n"
    tree = make_tree(tmp_path / "tree", script)
    with pytest.raises(BuildFailed, match=r"machine\.firmware_build: build failed\n  /z/SecMain\.c:7: error: no such"):
        build_ovmf(Workshop(Cache(tmp_path / "cache")), FirmwareBuild(source=tree))


def test_what_edk2s_own_programs_say_is_an_error(tmp_path: Path) -> None:
    said = r"""printf 'build.py...\n : error F001: Module %s/OvmfPkg/A.inf NOT found\n\n- Failed -\n' "$WORKSPACE" """
    tree = make_tree(tmp_path / "tree", f"#!/bin/sh\n{said}\nexit 1\n")
    with pytest.raises(BuildFailed, match=r"build\.py\.\.\.\n   : error F001: Module OvmfPkg/A\.inf NOT found"):
        build_ovmf(Workshop(Cache(tmp_path / "cache")), FirmwareBuild(source=tree))


def test_a_folder_that_is_no_edk2(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    with pytest.raises(
        InputError, match=r"machine\.firmware_build\.source: .*not a tree of EDK II: it has no BaseTools"
    ):
        build_ovmf(Workshop(Cache(tmp_path / "cache")), FirmwareBuild(source=tmp_path / "tree"))
