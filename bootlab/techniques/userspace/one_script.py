"""One script as init instead of an init system with many."""

from bootlab.techniques.changes.init_program import runs_as_init, starts_offered
from bootlab.techniques.model.published import BOOTLIN_2019, Published
from bootlab.techniques.model.technique import Layer, Risk, Technique, Text

ONE_INIT = "/sbin/init-one"
"""Where a system file offers its script: `"/sbin/init-one" = "my-script"` in [initramfs.files]."""


TECHNIQUES = (
    Technique(
        name="userspace_one_script",
        text=Text(
            summary="starts one short script as init instead of an init system with a script for every service",
            mechanism=(
                "Each script is a shell to start, and each of its lines a program; what the application "
                "does not wait for (loggers, network, names) need not run before it, or at all."
            ),
            cost="services that the script does not start are gone: system log, network, a shell on the console",
            risk=Risk.FUNCTION,
            published=(Published("all init scripts replaced by one: hardly noticeable", BOOTLIN_2019),),
        ),
        change=starts_offered(Layer.USERSPACE, ONE_INIT, "script"),
        proof=runs_as_init(ONE_INIT),
    ),
)
