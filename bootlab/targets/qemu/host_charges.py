"""What the plugin is told where a host model is charged to the clock as the boot runs (clock.host_model)."""

from bootlab.extensions.host_models import find_host_models
from bootlab.price.host_model import HostModel, expect_arch, read_host_model
from bootlab.price.memory import huge_spans
from bootlab.price.rules import read_rule_set
from bootlab.system import System


def model_hash(system: System) -> dict[str, str]:
    """Return the model's own hash as one of the boot's; empty where the clock is not charged. Raises InputError."""
    name = system.clock.host_model
    return {} if name is None else {"host_model": _read(name, system).identity}


def charge_lines(system: System) -> str:
    """Return the lines of the plugin's config by which each exit and first touch takes the model's time.

    Empty where the clock is not charged. Raises InputError.
    """
    machine, name = system.machine, system.clock.host_model
    if name is None:
        return ""
    model = _read(name, system)
    spans = huge_spans(machine.type.value, machine.memory_mib, machine.shape)
    rules = read_rule_set(model.rules).on(machine.type.value, machine.shape)
    lines = model.plugin_lines(rules, spans, model.backed_by(machine.page_size.value))
    return "".join(f"{line}\n" for line in lines)


def _read(name: str, system: System) -> HostModel:
    model = read_host_model(name, find_host_models(system.extensions))
    expect_arch(model, system.machine.arch, system.name)
    return model
