"""What is taken off a price for a shape: never more than was counted, and each with its words."""

from bootlab.price.host_model import NAMED, read_host_model
from bootlab.price.shape_corrections import FIRMWARE, NOT_CORRECTED, XEN, shape_corrections
from bootlab.system.shape import SHAPES


def test_the_firmware_and_the_entry_are_taken_off_by_the_models_own_figures() -> None:
    for name in NAMED:
        model = read_host_model(name)
        both = shape_corrections(model, firmware_ns=1000, looks_for_xen=True)
        assert both == {FIRMWARE: -1000, XEN: -256 * model.exit["cpuid"].ns}
        assert shape_corrections(model, firmware_ns=0, looks_for_xen=False) == {}


def test_every_shape_says_what_else_differs() -> None:
    assert NOT_CORRECTED.keys() == SHAPES.keys() and all(NOT_CORRECTED.values())
