"""A tiny kernel built from Debian's source: it boots, by every way in, and building it again gives the same bytes.

One configuration serves every test, and its objects stay in the cache: only the first build on a machine takes minutes.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.build.cache import Cache, file_sha256
from bootlab.build.kernel.build import BuiltKernel, build_kernel, kernel_key, objects_of
from bootlab.build.source.configure import configure
from bootlab.build.source.origin import require_source
from bootlab.build.source.toolchain import require_toolchain
from bootlab.build.workshop import Workshop
from bootlab.cli.app import run
from bootlab.errors import InputError
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import KernelBuild, System, read_system

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

HERE = Path(__file__).parents[1] / "tiny_kernel"
TINY = KernelBuild(package="linux-source-6.12", suite="trixie", base="tinyconfig", fragments=(HERE / "tiny.config",))
MARKS = ("kernel_entry", "start_kernel", "init_exec", "first_user_instruction", "ready")


@pytest.fixture(scope="module")
def tiny(shop: Workshop) -> BuiltKernel:
    """The kernel that all tests share."""
    return build_kernel(shop, TINY, "x86_64")


@pytest.fixture
def system(tiny: BuiltKernel) -> System:
    """A system that builds it, entered as ELF."""
    return read_system(HERE / "tiny.toml")


def forgotten(build: KernelBuild, cache: Cache) -> None:
    """Take a kernel out of the cache if it is there; what a finished configuration is made of stays."""
    source, toolchain = require_source(Workshop(cache), build), require_toolchain("x86_64")
    key = kernel_key(source, configure(Workshop(cache), build, source, toolchain), toolchain, None)
    if (entry := cache.find("kernel", key)) is not None:
        shutil.rmtree(entry)


def with_options(**options: str) -> KernelBuild:
    """Return the tiny kernel with some options changed."""
    return KernelBuild.model_validate({**dict(TINY), "options": options})


@pytest.mark.promise("kernel from source")
def test_it_boots_and_every_mark_is_found_without_kallsyms(
    tiny: BuiltKernel, system: System, run_boot: Callable[[System], BootRecord]
) -> None:
    assert not {"KALLSYMS", "DEBUG_INFO_BTF", "MODULES"} & set(tiny.options)
    record = run_boot(system)
    assert record.outcome is Outcome.READY
    assert [mark for mark in MARKS if mark not in record.marks] == []


@pytest.mark.promise("bootlab build kernel")
def test_the_verb_gives_the_kernel_that_boots(
    tiny: BuiltKernel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["build", "kernel", str(HERE / "tiny.toml"), "--json", "--output", str(tmp_path / "out")]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["from_cache"] and document["release"] == tiny.release
    assert document["sha256"] == file_sha256(Path(document["image"])) == file_sha256(tiny.image)
    assert Path(document["config"]).parent == tmp_path / "out"


def test_the_image_boots_through_its_decompressor_whose_functions_a_profile_names(
    tiny: BuiltKernel, tmp_path: Path
) -> None:
    text = (HERE / "tiny.toml").read_text().replace('entry = "pvh"', 'entry = "image"')
    text = text.replace('"tiny.config"', f'"{HERE}/tiny.config"').replace('"init"', f'"{HERE}/init"')
    path = tmp_path / "image.toml"
    path.write_text(text)
    words = [sys.executable, "-m", "bootlab", "profile", str(path), "--json", "--runs", str(tmp_path / "runs")]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    functions = Path(json.loads(done.stdout)["boot"], "functions.txt")
    if not functions.is_file():
        functions = next(Path(json.loads(done.stdout)["boot"]).glob("functions*"))
    text = functions.read_text()
    assert re.search(r"\bextract_kernel\b", text)
    assert re.search(r"\bLZ4_decompress\w*\b|\bunlz4\b", text)


def test_an_embedded_initramfs_boots(system: System, run_boot: Callable[[System], BootRecord]) -> None:
    record = run_boot(system.with_part("initramfs", embedded=True))
    assert record.outcome is Outcome.READY
    assert "initramfs" not in record.sizes


def test_a_build_on_old_objects_and_a_clean_one_give_the_same_bytes(tiny: BuiltKernel, cache: Cache) -> None:
    # Away from the configuration and back, in the folder that keeps its objects.
    changed = with_options(PROC_FS="n")
    forgotten(changed, cache)
    other = build_kernel(Workshop(cache), changed, "x86_64")
    assert not other.from_cache
    assert file_sha256(other.vmlinux) != file_sha256(tiny.vmlinux)
    forgotten(changed, cache)
    forgotten(TINY, cache)
    again = build_kernel(Workshop(cache), TINY, "x86_64")
    assert not again.from_cache
    # The objects are gone, ccache has them.
    toolchain, source = require_toolchain("x86_64"), require_source(Workshop(cache), TINY)
    folder = objects_of(TINY, source, toolchain, cache)
    with folder.locked():
        shutil.rmtree(folder.objects)
    first = {path.name: file_sha256(path) for path in again.image.parent.iterdir() if path.is_file()}
    forgotten(TINY, cache)
    clean = build_kernel(Workshop(cache), TINY, "x86_64")
    for name in ("bzImage", "vmlinux", "vmlinux.stripped", "System.map", "decompressor", "config"):
        assert file_sha256(clean.image.parent / name) == first[name], name


def test_a_killed_build_is_done_again_from_the_start(tiny: BuiltKernel, cache: Cache) -> None:
    code = (
        "from bootlab.build.cache import Cache; from bootlab.build.kernel.build import build_kernel\n"
        "from bootlab.build.workshop import Workshop; from bootlab.system import KernelBuild; import sys\n"
        "build = KernelBuild.model_validate_json(sys.argv[1])\n"
        "shop = Workshop(Cache.default(), progress=lambda done, last: print(done, flush=True))\n"
        "build_kernel(shop, build, 'x86_64')\n"
    )
    changed = with_options(SYSFS="n", DEVTMPFS="n")
    forgotten(changed, cache)
    child = subprocess.Popen([sys.executable, "-c", code, changed.model_dump_json()], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline()
    child.send_signal(signal.SIGKILL)
    child.wait()
    folder = objects_of(changed, require_source(Workshop(cache), TINY), require_toolchain("x86_64"), cache)
    assert (folder.root / "building").exists()
    deadline = time.monotonic() + 10
    while _makes_in(folder.objects) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _makes_in(folder.objects)
    built = build_kernel(Workshop(cache), changed, "x86_64")
    assert not built.from_cache
    assert built.options.get("SYSFS") is None
    assert not (folder.root / "building").exists()
    forgotten(changed, cache)


def _makes_in(objects: Path) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        if words.startswith(b"make\0") and os.fsencode(objects) in words:
            found.append(path.parent.name)
    return found


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"VIRTIO_BLK": "y"}, r"kernel\.build\.options\.VIRTIO_BLK: .* needs VIRTIO=y \(is n\), BLK_DEV=y"),
        ({"RTC_MC146818_LIB": "n"}, "is selected by X86"),
        ({"LOG_BUF_SHIFT": "99"}, "must be from 12 to 25"),
        ({"EXT4_FS": "m"}, r"m needs MODULES=y \(is n\)"),
        ({"SPM": "n"}, "no option CONFIG_SPM in this tree; did you mean"),
        ({"ARM_LPAE": "y"}, "option of other architectures"),
        ({"HZ": "77"}, "has no prompt"),
    ],
)
def test_an_option_that_does_not_survive_is_told_with_its_reason(
    shop: Workshop, options: dict[str, str], told: str
) -> None:
    build = with_options(**options)
    with pytest.raises(InputError) as caught:
        configure(shop, build, require_source(shop, build), require_toolchain("x86_64"))
    assert re.search(told, caught.value.message)


def test_of_a_choice_two_fragments_cannot_have_both(shop: Workshop, tmp_path: Path) -> None:
    other = tmp_path / "xz.config"
    other.write_text("CONFIG_KERNEL_XZ=y\n")
    build = KernelBuild.model_validate({**dict(TINY), "fragments": (*TINY.fragments, other)})
    with pytest.raises(InputError) as caught:
        configure(shop, build, require_source(shop, build), require_toolchain("x86_64"))
    told = r"tiny\.config:\d+: CONFIG_KERNEL_LZ4=y did not survive, .* KERNEL_XZ was taken"
    assert re.search(told, caught.value.message)


def test_an_option_overrules_what_a_fragment_takes_of_a_choice(cache: Cache) -> None:
    build, lines = with_options(KERNEL_XZ="y"), list[str]()
    made = configure(
        Workshop(cache, tell=lines.append), build, require_source(Workshop(cache), build), require_toolchain("x86_64")
    )
    assert (made.options.get("KERNEL_XZ"), made.options.get("KERNEL_LZ4")) == ("y", None)
    assert "kernel.build.options overrules what fragments ask for: KERNEL_LZ4" in lines


def test_a_full_disk_is_told(tiny: BuiltKernel, cache: Cache) -> None:
    """The cache is on a small file system, but for what a build only reads."""
    linked = "contents packages package apt kernel-source kernel-config kernel-base kconfig-options".split()
    links = "".join(f"ln -s {cache.root}/{name} $d/{name}; " for name in linked)
    script = (
        f"set -e; d=$(mktemp -d); mount -t tmpfs -o size=8m none $d; {links}export BOOTLAB_CACHE=$d; "
        f"{sys.executable} -m bootlab build kernel {HERE}/tiny.toml || echo exit=$?; ls -A $d/kernel"
    )
    words = ["unshare", "--mount", "--map-root-user", "sh", "-c", script]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    if "unshare" in done.stderr:
        pytest.skip(f"unshare: no mount namespace here: {done.stderr.strip()}")
    assert done.stdout.split() == ["exit=1"]
    assert "no space left while making kernel" in done.stderr
    assert "hint: BOOTLAB_CACHE=" in done.stderr
    assert "Traceback" not in done.stderr
