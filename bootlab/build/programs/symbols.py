"""The functions of the programs that bootlab compiled for a system: guests carry them stripped, as a product would."""

from pathlib import Path

from bootlab.build.cache import Cache
from bootlab.build.programs import guest
from bootlab.build.programs.source_program import build_program
from bootlab.build.programs.static_program import compile_static, is_source, make_linker_map
from bootlab.build.workshop import Workshop
from bootlab.symbols.lld_map import mapped_symbols
from bootlab.symbols.program import Program, read_mapped_program, read_program
from bootlab.system import Content, System


def read_program_symbols(system: System, cache: Cache) -> dict[str, Program]:
    """Return path in the guest -> functions, of every program that the system's recipes compile and that has names.

    Raises InputError, MissingTool, ProgramBuildFailed, Unreachable, StoreError, where the cache has lost one.
    """
    found: dict[str, Program | None] = {}
    for part, recipe in (("initramfs", system.initramfs), ("rootfs", system.rootfs)):
        if recipe is not None and recipe.path is None:
            found |= _of_recipe(recipe, part, system.machine.arch, cache)
    return {name: program for name, program in found.items() if program is not None and program.functions}


def _of_recipe(recipe: Content, part: str, arch: str, cache: Cache) -> dict[str, Program | None]:
    sources = {name: path for name, path in recipe.files.items() if is_source(path)}
    if recipe.init is not None and is_source(recipe.init):
        sources["/init"] = recipe.init
    found: dict[str, Program | None] = {}
    if recipe.bootlab_init:
        maps = guest.compile_runtime_maps(arch, cache)
        found |= {name: _mapped(path, maps.get(name)) for name, path in guest.compile_runtime(arch, cache).items()}
    for name, source in sources.items():
        found[f"/{name.lstrip('/')}"] = _mapped(
            compile_static(source, arch, cache), make_linker_map(source, arch, cache)
        )
    for name, program in recipe.programs.items():
        # Made for the boot already, so there is nothing to tell.
        built = build_program(Workshop(cache), program, arch, key=f'{part}.programs."{name}"')
        found[f"/{name.lstrip('/')}"] = read_program(built.symbols.read_bytes(), name)
    return found


def _mapped(program: Path, link: Path | None) -> Program | None:
    if link is None:
        return None
    return read_mapped_program(program.read_bytes(), str(program), mapped_symbols(link.read_text(encoding="utf-8")))
