"""The plan that `/sbin/bootlab-coldplug` follows: the modules for a list of devices, in order, and what to wait for.

All of the resolving is done here, once, where modprobe and udev would do it at every boot: aliases, dependencies, soft
ones among them, what never to load. guest/coldplug/plan.h describes the plan's text.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bootlab.build.modules.aliases import ModuleAliases
from bootlab.build.modules.package import ModuleTree, module_name
from bootlab.errors import InputError
from bootlab.system import Coldplug

PLAN = "/etc/bootlab/coldplug"
_SIGNED = b"~Module signature appended~\n"
"""The end of a signed module (Linux, include/linux/module_signature.h)."""
_SIGNATURE_BYTES = 4096
_DIGESTS = {
    "sha256": bytes.fromhex("0609608648016503040201"),
    "sha384": bytes.fromhex("0609608648016503040202"),
    "sha512": bytes.fromhex("0609608648016503040203"),
}
"""Hash, as the crypto API has it -> its object identifier in DER (RFC 5754)."""


@dataclass(frozen=True, slots=True)
class ColdplugPlan:
    """What to load, in order, and what to wait for."""

    modules: tuple[str, ...]
    """Names, each after all that it needs."""
    text: bytes


def read_devices(path: Path, key: str) -> list[str]:
    """Return the modaliases of a file, each once, in order: one a line, `#` begins a comment.

    Raises InputError naming `key` for a file that cannot be read and a line that is no modalias.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{key}: {path}: {getattr(error, 'strerror', None) or 'not UTF-8 text'}") from error
    found: dict[str, None] = {}
    for number, line in enumerate(lines, 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if len(words) != 1 or ":" not in words[0]:
            raise InputError(
                f"{key}: {path}:{number}: {line.strip()}: not a modalias",
                hint="one a line, as /sys/devices/.../modalias has it; `bootlab coldplug SYSTEM` writes such a file",
            )
        found[words[0]] = None
    return list(found)


def plan_coldplug(coldplug: Coldplug, tree: ModuleTree, aliases: ModuleAliases, part: str) -> ColdplugPlan:
    """Return the plan for the modules of `tree`. `part` of the system file has it, for messages.

    Raises InputError for modules that this kernel does not have.
    """
    key = f"{part}.coldplug"
    never = frozenset(map(module_name, coldplug.never))
    for name in sorted(never):
        tree.expect(name, f"{key}.never")
    order = tree.load_order(coldplug.first, f"{key}.first", never)
    n_first = len(order) if coldplug.background else None
    order = tree.load_order(coldplug.modules, f"{key}.modules", never, order)
    for names, asked in (("first", coldplug.first), ("modules", coldplug.modules)):
        for name in map(module_name, asked):
            if name not in order and name not in tree.built_in:
                barred = next(needed for needed in tree.load_order([name]) if needed in never)
                raise InputError(f"{key}.{names}: {name} needs {barred}, which never excludes")
    if coldplug.devices is not None:
        devices = read_devices(coldplug.devices, f"{key}.devices")
        order = tree.load_order(wanted_modules(devices, aliases), f"{key}.devices", never, order)
    # They come first, and alone: what checks the others' signatures is then fast for each of them.
    hashers = _hashers(order, tree, aliases)
    first = tree.load_order([name for name in order if name in hashers], key, never)
    if n_first is not None:
        n_first += len(set(first) - set(order[:n_first]))
    order = [*first, *(name for name in order if name not in first)]
    for name in coldplug.parameters:
        if module_name(name) not in order:
            raise InputError(f"{key}.parameters: {name} is not among the modules that the plan loads")
    return ColdplugPlan(tuple(order), _text(coldplug, order, len(first), n_first, tree).encode())


def wanted_modules(devices: Iterable[str], aliases: ModuleAliases) -> list[str]:
    """Return the modules that say they are for one of the devices, in the devices' order, each once."""
    return list(dict.fromkeys(name for modalias in devices for name in aliases.modules(modalias)))


def _hashers(order: Sequence[str], tree: ModuleTree, aliases: ModuleAliases) -> list[str]:
    """Return the modules that provide the hash of the modules' signatures, where these are signed.

    The kernel reads each module's signature by the implementation with the highest priority that there is by then.
    """
    data = tree.content(order[0]) if order else b""
    if not data.endswith(_SIGNED):
        return []
    # The digest's algorithm stands in the PKCS #7 message at the end, before what it signs with.
    tail = data[-_SIGNATURE_BYTES:]
    return [name for hash_, oid in _DIGESTS.items() if oid in tail for name in aliases.modules(f"crypto-{hash_}")]


def _text(coldplug: Coldplug, order: Sequence[str], n_alone: int, n_first: int | None, tree: ModuleTree) -> str:
    numbers = {name: number for number, name in enumerate(order)}
    parameters = {module_name(name): words for name, words in coldplug.parameters.items()}
    lines = ["serial"] if coldplug.serial else []
    for name in order:
        if numbers[name] == n_first:
            lines.append("background")
        needed = {numbers[one] for one in tree.needs(name) if one in numbers}
        if numbers[name] >= n_alone:
            needed |= set(range(n_alone))
        after = ",".join(map(str, sorted(needed))) or "-"
        lines.append(" ".join(["module", tree.archive_path(name), after, parameters.get(name, "")]).rstrip())
    lines += [f"wait {device} {seconds:.9f}s" for device, seconds in coldplug.wait.items()]
    return "".join(f"{line}\n" for line in lines)
