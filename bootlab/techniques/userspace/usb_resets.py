"""Devices on USB that have lost their power over a suspend: who waits until they are reset, and how long that takes."""

from typing import Final

from bootlab.techniques.changes.before_sleep import before_sleep, settings_taken, usb_devices_wake_sooner
from bootlab.techniques.model.proofs import any_of, if_shown, line_appears
from bootlab.techniques.model.published import none_published
from bootlab.techniques.model.technique import Risk, Technique, Text

_PORTS: Final = "write /sys/bus/usb/devices/*/*-port*/quirks"
_ABI: Final = none_published(
    "Linux 6.12, Documentation/ABI/testing/sysfs-bus-usb: port quirks for those who care about time-to-active; "
    'T. Brandt, "USB Resume Optimization By Using Spec Minimum Delays", Intel, 2016'
)

TECHNIQUES = (
    Technique(
        name="userspace_usb_persist_none",
        text=Text(
            summary="has devices on USB that lost their power in a suspend found anew, behind the wake",
            mechanism=(
                "A device whose controller has forgotten it is reset and set up as before while the machine wakes "
                "(USB-Persist: usb_reset_and_verify_device()), and no program runs before that. Without persist its "
                "wake ends at once, and the hub's work queue, which begins behind it, finds a new device."
            ),
            cost=(
                "each such device is a new one some hundred milliseconds after the wake, as if it had been pulled out "
                "and put in: programs that had it open must open it again; file systems on such a disk are lost"
            ),
            risk=Risk.FUNCTION,
            published=(none_published("Linux 6.12, Documentation/driver-api/usb/persist.rst"),),
        ),
        change=before_sleep("usb-persist", "write /sys/bus/usb/devices/*/power/persist 0"),
        # The hub may let a device go, and say so, only when nobody reads the log any more: silence shows nothing.
        proof=settings_taken(
            "usb-persist",
            any_of(
                if_shown(line_appears(r"^usb [\d.-]+: USB disconnect, device number")),
                usb_devices_wake_sooner(to_percent=10),
            ),
        ),
    ),
    Technique(
        name="userspace_usb_one_reset",
        text=Text(
            summary="resets devices on USB once as the machine wakes, in the place of twice",
            mechanism=(
                "Devices below USB 3 are reset, asked for 64 bytes of their descriptor, reset again and given their "
                "address, as Windows does; the old scheme gives the address behind the first reset. Each takes 60 ms "
                "and 50 more, one device of a controller after another (hub_port_init())."
            ),
            cost="a device that does not stand is tried again with the new one, which takes longer: try each",
            risk=Risk.FUNCTION,
            published=(_ABI,),
        ),
        change=before_sleep("usb-one-reset", "write /sys/module/usbcore/parameters/old_scheme_first Y"),
        # 168 of 296 ms each, of a keyboard and a tablet of QEMU's (Linux 6.1).
        proof=settings_taken("usb-one-reset", usb_devices_wake_sooner(to_percent=80)),
    ),
    Technique(
        name="userspace_usb_short_recovery",
        text=Text(
            summary="waits 10 ms in the place of 50 after each reset of a device on USB",
            mechanism=(
                "The USB 2.0 specification has 10 ms for a device to recover from its reset (TRSTRCY); the kernel adds "
                "40 for devices that take longer, unless a port says otherwise (USB_PORT_QUIRK_FAST_ENUM)."
            ),
            cost="a device that takes longer than the specification allows is not found, or tried again: try each",
            risk=Risk.FUNCTION,
            published=(_ABI,),
        ),
        change=before_sleep("usb-short-recovery", f"{_PORTS} 2"),
        # 200 of 296 ms each, of the same.
        proof=settings_taken("usb-short-recovery", usb_devices_wake_sooner(to_percent=80)),
    ),
)
