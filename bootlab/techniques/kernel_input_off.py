"""Build without keyboards, mice and screens."""

from bootlab.techniques.build_options import off, option_technique
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_input_off",
    options=off(
        "INPUT",
        "VT",
        "SERIO",
        "SERIO_I8042",
        "KEYBOARD_ATKBD",
        "MOUSE_PS2",
        "INPUT_KEYBOARD",
        "INPUT_MOUSE",
        "HID_SUPPORT",
        "HID",
        "USB_HID",
        "DRM",
        "FB",
        "VGA_CONSOLE",
    ),
    gates={
        "EXPERT": "y",
        **off(
            "RMI4_CORE",
            "SURFACE_HID",
            "SURFACE_KBD",
            "DRM_I915",
            "DRM_VIRTIO_GPU",
            "INPUT_MISC",
            "INPUT_TABLET",
            "INPUT_TOUCHSCREEN",
            "INPUT_JOYSTICK",
        ),
    },
    summary="builds without keyboards, mice, virtual terminals and graphics",
    mechanism=(
        "The i8042 driver resets a controller and waits for ports that do not answer, virtual terminals "
        "allocate screens, and drivers of HID devices and graphics register."
    ),
    cost="no screen, keyboard and mouse; Ctrl-Alt-Del from the host does nothing",
    risk=Risk.FUNCTION,
    sources=(
        Source('i8042: "a few tens of milliseconds"', "FC: firecracker-microvm/firecracker 81b38b9, docs"),
        Source("about 8 ms", "MVM: tinylabscom/mvm issue 2299"),
    ),
    shows=initcalls_gone("i8042_init", "input_init", "vtconsole_class_init"),
    removes=Removes(
        "keyboard, mouse, virtual terminals and graphics",
        functions=(
            "i8042_init",
            "input_init",
            "atkbd_init",
            "psmouse_init",
            "mousedev_init",
            "evdev_init",
            "serio_init",
            "hid_init",
            "hid_generic_init",
            "con_init",
            "vty_init",
            "vtconsole_class_init",
            "drm_core_init",
            "i915_init",
            "fbmem_init",
        ),
    ),
)
