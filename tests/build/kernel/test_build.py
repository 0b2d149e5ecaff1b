"""Building, caching and breaking off, on a source of one file that make and the compiler really build.

What a real kernel does is in tests/boot/kernels/test_tiny_kernel.py.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.build.cache import Cache, file_sha256
from bootlab.build.kernel.build import BuiltKernel, build_kernel, compile_tools, objects_of
from bootlab.build.kernel.order import KernelOrder
from bootlab.build.source.make import BuildFailed
from bootlab.build.source.origin import require_source
from bootlab.build.source.toolchain import probe_tools, require_toolchain
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.system import KernelBuild

needs_tools = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in ("make", "gcc", "objcopy", "flex", "bison", "bc"))
    or not Path("/usr/include/gelf.h").exists(),
    reason="needs what kernels are built with: make setup-build",
)
pytestmark = needs_tools

MAKEFILE = """VERSION = 6
PATCHLEVEL = 12
SUBLEVEL = 0
boot = $(O)/arch/x86/boot
unexport LC_ALL

tinyconfig:
\tprintf 'CONFIG_64BIT=y\\nCONFIG_KERNEL_GZIP=y\\nCONFIG_DEBUG_INFO=y\\n' >$(O)/.config
olddefconfig:
\tgrep -v CONFIG_LOST $(O)/.config >$(O)/.new; mv $(O)/.new $(O)/.config
\tgrep -q CONFIG_SMP=y $(O)/.config || sed -i /CONFIG_NUMA/d $(O)/.config
\tgrep -q CONFIG_CPU_MITIGATIONS $(O)/.config || echo CONFIG_CPU_MITIGATIONS=y >>$(O)/.config
bzImage: vmlinux
vmlinux: $(O)/vmlinux
$(O)/init/main.o: init/main.c init/value.h $(O)/.config
\tmkdir -p $(O)/init $(boot)/compressed $(O)/include/config
\t@echo '  CC      init/main.o'
\t$(CC) $(KCFLAGS) -g -c init/main.c -o $@
$(O)/vmlinux: $(O)/init/main.o
\t$(CROSS_COMPILE)gcc -nostdlib -static -no-pie -Wl,-e,start_kernel $< -o $@
\tnm $@ >$(O)/System.map
\tcp $@ $(boot)/compressed/vmlinux
\tcp $@ $(boot)/bzImage
\techo 6.12.0 >$(O)/include/config/kernel.release
\ttouch $(O)/modules.builtin
"""
FILES = {
    "Makefile": MAKEFILE,
    "Kconfig": "".join(
        f'config {name}\n\tbool "{name}"\n'
        for name in ("64BIT", "SMP", "DEBUG_INFO", "KERNEL_GZIP", "LOST", "CPU_MITIGATIONS")
    )
    + 'config LOCALVERSION_AUTO\n\tbool "auto"\nconfig NUMA\n\tbool "NUMA"\n\tdepends on SMP\n',
    "scripts/kconfig/Makefile": "",
    "arch/x86/Kconfig": "",
    "init/main.c": '#include "value.h"\nconst char *place = __FILE__;\nint start_kernel(void) { return VALUE; }\n',
    "init/value.h": "#define VALUE 1\n",
}


def make_tree(tree: Path) -> Path:
    """Write the source."""
    for name, text in FILES.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tree


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The source."""
    return make_tree(tmp_path / "linux")


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """A cache of this test."""
    return Cache(tmp_path / "cache")


def build(tree: Path, cache: Cache, **options: str) -> BuiltKernel:
    """Build it."""
    return build_kernel(Workshop(cache), KernelBuild(source=tree, base="tinyconfig", options=options), "x86_64")


def edit(path: Path, text: str) -> None:
    """Write a file as an editor does, later than anything before."""
    path.write_text(text)
    later = time.time() + 5
    os.utime(path, (later, later))


def test_what_is_built_once_is_found_from_any_checkout(tree: Path, tmp_path: Path, cache: Cache) -> None:
    first = build(tree, cache)
    copy = make_tree(tmp_path / "another/place/linux")
    shutil.rmtree(tree)
    second = build(copy, cache)
    assert (first.from_cache, second.from_cache) == (False, True)
    assert second.image == first.image


def test_the_place_does_not_reach_the_kernel(tree: Path, tmp_path: Path) -> None:
    here = build(tree, Cache(tmp_path / "cache"))
    there = build(make_tree(tmp_path / "a/much/longer/place"), Cache(tmp_path / "other-cache"))
    assert file_sha256(here.vmlinux) == file_sha256(there.vmlinux)
    assert os.fsencode(tmp_path) not in here.vmlinux.read_bytes()


def test_an_edit_is_built_and_undoing_it_found_again(tree: Path, cache: Cache) -> None:
    first = build(tree, cache)
    edit(tree / "init/value.h", "#define VALUE 2\n")
    edited = build(tree, cache)
    assert not edited.from_cache
    assert file_sha256(edited.vmlinux) != file_sha256(first.vmlinux)
    edit(tree / "init/value.h", FILES["init/value.h"])
    assert build(tree, cache).image == first.image


def test_objects_stay_for_an_edit_and_go_for_an_old_time(tree: Path, cache: Cache) -> None:
    build(tree, cache)
    edit(tree / "Kconfig", FILES["Kconfig"] + "# nothing\n")
    assert "  CC      init/main.o" not in build(tree, cache).log.read_text()
    (tree / "init/value.h").write_text("#define VALUE 3\n")
    os.utime(tree / "init/value.h", (1, 1))
    assert "  CC      init/main.o" in build(tree, cache).log.read_text()


def test_a_source_that_does_not_compile_and_then_does(
    tree: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANG", "C.UTF-8")
    edit(tree / "init/main.c", "int start_kernel(void) { return nothing; }\n")
    with pytest.raises(BuildFailed) as caught:
        build(tree, cache)
    message = caught.value.message
    assert "init/main.c:1:" in message and "'nothing' undeclared" in message
    assert len(message.splitlines()) < 25
    log = Path(message.rpartition("the whole log: ")[2].splitlines()[0])
    assert "'nothing' undeclared" in log.read_text()
    edit(tree / "init/main.c", FILES["init/main.c"])
    assert not build(tree, cache).from_cache


def test_an_option_that_kconfig_drops_is_refused_and_stays_refused(tree: Path, cache: Cache) -> None:
    for _ in range(2):
        with pytest.raises(InputError, match=r"options\.LOST: CONFIG_LOST=y did not survive, it is n: "):
            build(tree, cache, LOST="y")
    with pytest.raises(InputError, match=r"options\.SPM: no option CONFIG_SPM in this tree; did you mean SMP"):
        build(tree, cache, SPM="y")


def test_options_overrule_what_fragments_ask_for_with_all_that_follows(
    tree: Path, tmp_path: Path, cache: Cache
) -> None:
    fragment = tmp_path / "mine.config"
    fragment.write_text("CONFIG_SMP=y\nCONFIG_NUMA=y\n")

    def configured(**options: str) -> tuple[dict[str, str], list[str]]:
        told: list[str] = []
        asked = KernelBuild(source=tree, base="tinyconfig", fragments=(fragment,), options=options)
        return build_kernel(Workshop(cache, tell=told.append), asked, "x86_64").options, told

    assert configured()[0]["NUMA"] == "y"
    for _ in range(2):
        options, told = configured(SMP="n")
        assert "NUMA" not in options
        assert "kernel.build.options overrules what fragments ask for: NUMA" in told
    # A fragment that contradicts itself is refused, whatever else the options say.
    fragment.write_text("# CONFIG_SMP is not set\nCONFIG_NUMA=y\n")
    with pytest.raises(InputError, match="NUMA=y did not survive.*needs SMP=y"):
        configured(DEBUG_INFO="n")
    # And an option must survive itself.
    with pytest.raises(InputError, match=r"kernel\.build\.options\.NUMA"):
        configured(NUMA="y")


def test_a_configuration_of_an_older_kernel_loses_nothing_unsaid(tree: Path, tmp_path: Path, cache: Cache) -> None:
    config = tmp_path / "old.config"
    config.write_text(
        "CONFIG_64BIT=y\nCONFIG_KERNEL_GZIP=y\n# CONFIG_SPECULATION_MITIGATIONS is not set\nCONFIG_HAVE_OLD=y\n"
    )
    told: list[str] = []
    shop = Workshop(cache, tell=told.append)

    def built(**options: str) -> BuiltKernel:
        return build_kernel(shop, KernelBuild(source=tree, config=config, options=options), "x86_64")

    kernel = built()
    named = [(one.option, one.renamed, one.is_lost) for one in kernel.unknown]
    assert named == [("SPECULATION_MITIGATIONS", "CPU_MITIGATIONS", True), ("HAVE_OLD", None, False)]
    assert kernel.unknown[0].by == f"{config}:3"
    assert [line for line in told if "kernel.build.config: " in line or str(config) in line] == [
        "kernel.build.config: Linux 6.12.0 does not know 2 options: 1 renamed and lost, 1 set",
        f"{config}:3: SPECULATION_MITIGATIONS=n is lost: since Linux 6.9 the option is CPU_MITIGATIONS, and here that "
        "is y; kernel.build.options: CPU_MITIGATIONS=n asks for it",
        f"set and unknown: HAVE_OLD=y ({config}:4)",
    ]
    assert "SPECULATION_MITIGATIONS=n (CPU_MITIGATIONS since 6.9, here y)" in kernel.remarks[0]
    # From the cache it is known again, and not told again; by both names it is as it was meant.
    told.clear()
    assert built().unknown == kernel.unknown
    assert not told
    by_both = built(CPU_MITIGATIONS="n")
    assert not by_both.unknown[0].is_lost and by_both.remarks == ()


def test_an_option_by_its_old_name_is_refused_with_the_new_one(tree: Path, tmp_path: Path, cache: Cache) -> None:
    said = "no option CONFIG_SPECULATION_MITIGATIONS in this tree; since Linux 6.9 it is CPU_MITIGATIONS, and this "
    with pytest.raises(InputError, match=rf"options\.SPECULATION_MITIGATIONS: {said}CONFIG_CPU_MITIGATIONS=n"):
        build(tree, cache, SPECULATION_MITIGATIONS="n")
    fragment = tmp_path / "mine.config"
    fragment.write_text("\n# CONFIG_SPECULATION_MITIGATIONS is not set\n")
    asked = KernelBuild(source=tree, base="tinyconfig", fragments=(fragment,))
    with pytest.raises(InputError, match=rf"mine\.config:2: {said}CONFIG_CPU_MITIGATIONS=n"):
        build_kernel(Workshop(cache), asked, "x86_64")


def test_a_defconfig_of_the_tree_is_read_itself(tree: Path, cache: Cache) -> None:
    # make leaves out what it does not know.
    defconfig = tree / "arch/x86/configs/stale_defconfig"
    defconfig.parent.mkdir()
    defconfig.write_text("CONFIG_GONE=y\n")
    edit(tree / "Makefile", MAKEFILE.replace("tinyconfig:", "tinyconfig stale_defconfig:"))
    # Neither an example of the language nor a test of kconfig is an option of the tree.
    for place in ("Documentation/kbuild/Kconfig.example", "scripts/kconfig/tests/choice/Kconfig"):
        (tree / place).parent.mkdir(parents=True)
        (tree / place).write_text('config GONE\n\tbool "not here"\n')
    kernel = build_kernel(Workshop(cache), KernelBuild(source=tree, base="stale_defconfig"), "x86_64")
    assert [(one.option, one.by) for one in kernel.unknown] == [("GONE", "arch/x86/configs/stale_defconfig:1")]


def test_an_edited_fragment_keeps_its_objects_and_another_base_has_its_own(
    tree: Path, tmp_path: Path, cache: Cache
) -> None:
    fragment = tmp_path / "mine.config"
    source, toolchain = require_source(Workshop(cache), KernelBuild(source=tree)), require_toolchain("x86_64")
    roots = []
    for text, base in (("CONFIG_SMP=y\n", "tinyconfig"), ("", "tinyconfig"), ("", "defconfig")):
        fragment.write_text(text)
        asked = KernelBuild(source=tree, base=base, fragments=(fragment,))
        roots.append(objects_of(asked, source, toolchain, cache).root)
    assert roots[0] == roots[1] != roots[2]


def test_a_variable_of_the_shell_does_not_change_it(
    tree: Path, tmp_path: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = build(tree, cache)
    for name, value in {"KCFLAGS": "-DVALUE=9", "O": "/nowhere", "CROSS_COMPILE": "mips-", "MAKEFLAGS": "-n"}.items():
        monkeypatch.setenv(name, value)
    other = build(tree, Cache(tmp_path / "other"))
    assert file_sha256(other.vmlinux) == file_sha256(plain.vmlinux)


def test_a_path_with_a_blank_is_told(tmp_path: Path, cache: Cache) -> None:
    tree = make_tree(tmp_path / "my linux")
    with pytest.raises(InputError, match="takes no path with a blank"):
        build(tree, cache)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_build_that_is_broken_off_begins_anew(tree: Path, cache: Cache, number: signal.Signals) -> None:
    slow = MAKEFILE.replace("\t$(CC)", "\ttouch $(O)/started; sleep 60; $(CC)")
    edit(tree / "Makefile", slow)
    words = [sys.executable, "-m", "bootlab", "build", "kernel", "--source", str(tree), "--base", "tinyconfig"]
    environment = {**os.environ, "BOOTLAB_CACHE": str(cache.root)}
    child = subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 60
    while not list(cache.root.glob("kernel-objects/build-*/objects/started")) and time.monotonic() < deadline:
        assert child.poll() is None, child.stderr and child.stderr.read()
        time.sleep(0.05)
    child.send_signal(number)
    assert child.wait(timeout=20) == (-signal.SIGKILL if number is signal.SIGKILL else 130)
    (objects,) = cache.root.glob("kernel-objects/build-*/objects")
    edit(tree / "Makefile", MAKEFILE)
    assert not build(tree, cache).from_cache
    assert not (objects / "started").exists()


@pytest.mark.parametrize("name", ["TIMESTAMP", "USER", "HOST", "VERSION"])
def test_build_facts_of_the_shell_do_not_take_the_place_of_ours(
    tree: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    seen = tree.parent / "seen"
    text = (tree / "Makefile").read_text()
    (tree / "Makefile").write_text(
        text.replace("vmlinux:", f"vmlinux: say\nsay:\n\techo $(KBUILD_BUILD_{name}) >{seen}\nvmlinux:", 1)
    )
    monkeypatch.setenv(f"KBUILD_BUILD_{name}", "somebody's")
    build(tree, cache)
    ours = {"TIMESTAMP": "Thu Jan 1 00:00:00 UTC 1970", "USER": "bootlab", "HOST": "bootlab", "VERSION": "1"}
    assert seen.read_text().strip() == ours[name]


def test_a_kernel_without_rust_is_the_same_on_a_host_with_a_compiler_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its version would stand in the configuration, and so in the bytes of a kernel that embeds that."""
    (tmp_path / "rustc").write_text("#!/bin/sh\necho rustc 1.95.0\n")
    (tmp_path / "rustc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    plain, with_rust = (require_toolchain("x86_64", rust=rust) for rust in (False, True))
    assert "RUSTC=false" in plain.words and not any(word.startswith("RUSTC") for word in with_rust.words)
    probe_tools.cache_clear()
    assert "rustc" not in compile_tools(plain) and compile_tools(with_rust)["rustc"] == "rustc 1.95.0"
    probe_tools.cache_clear()
    order = KernelOrder("k", "6.12", "x86_64", "CONFIG_RUST=y\n", "s", "o", {})
    assert order.rust and not replace(order, config="# CONFIG_RUST is not set\n").rust
