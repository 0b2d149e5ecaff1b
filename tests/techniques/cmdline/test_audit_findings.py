"""Modules that systemd starts a modprobe each for, loaded by one process: from what an audit has found."""

from collections.abc import Callable
from dataclasses import replace

from bootlab.sources import EXAMPLES
from bootlab.system import read_system
from bootlab.techniques.cmdline.audit_findings import MODPROBE_UNITS
from bootlab.techniques.model.evidence import Effect, Evidence
from tests.techniques.asking import ALL, NOTHING, applied, why_not

DEBIAN = read_system(EXAMPLES / "distribution/on-hdd.toml")


def test_all_units_are_masked_and_what_was_loaded_is_loaded_together(evidence: Callable[..., Evidence]) -> None:
    assert "no audit said" in why_not("cmdline_modules_load", DEBIAN)
    audited = replace(NOTHING, facts={MODPROBE_UNITS: "dm_mod drm efi-pstore", "modules": "efi_pstore dm_mod ext4"})
    changed = applied("cmdline_modules_load", DEBIAN, audited)
    masks = " ".join(f"systemd.mask=modprobe@{name}.service" for name in ("dm_mod", "drm", "efi-pstore"))
    assert changed.kernel.cmdline.endswith(f" modules_load=dm_mod,efi-pstore {masks}"), "this kernel has no drm"
    none = replace(NOTHING, facts={MODPROBE_UNITS: "drm", "modules": "ext4"})
    assert "no audit said" in str(ALL["cmdline_modules_load"].change.applies(DEBIAN, none))
    # One name that the command line refuses would have the service fail that loads them.
    refused = applied("cmdline_modules_load", DEBIAN.with_cmdline("module_blacklist=floppy,efi_pstore"), audited)
    assert refused.kernel.cmdline.endswith(f" modules_load=dm_mod {masks}")
    prove = ALL["cmdline_modules_load"].proof.prove
    before = evidence(units_masked="", modules="dm_mod")
    loads = {"cmdline": "quiet modules_load=dm_mod", "units_masked": "modprobe@dm_mod.service modprobe@drm.service"}
    assert prove(evidence(**loads, modules="dm_mod ext4"), before) is Effect.PROVEN
    assert prove(evidence(**loads, modules="ext4"), before) is Effect.NONE, "nobody has loaded it"
    assert prove(evidence(**{**loads, "units_masked": ""}, modules="dm_mod"), before) is Effect.NONE
    assert prove(before, before) is Effect.NOT_SHOWN and prove(evidence(), before) is Effect.NOT_SHOWN


def test_a_masked_unit_has_to_stay_down_that_was_up(evidence: Callable[..., Evidence]) -> None:
    prove = ALL["cmdline_units_masked"].proof.prove
    before = evidence(units_masked="", units_started="nginx.service cron.service")
    assert prove(evidence(units_masked="cron.service", units_started="nginx.service"), before) is Effect.PROVEN
    masked_late = evidence(units_masked="man-db.service", units_started="nginx.service cron.service")
    assert prove(masked_late, before) is Effect.NOT_SHOWN, "it had not started by then anyway"
    up = evidence(units_masked="cron.service", units_started="nginx.service cron.service")
    assert prove(up, before) is Effect.NONE
    assert prove(evidence(units_masked="", units_started="nginx.service"), before) is Effect.NONE
    assert prove(evidence(units_masked="cron.service"), before) is Effect.NOT_SHOWN
