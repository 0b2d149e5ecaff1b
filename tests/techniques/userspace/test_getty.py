"""Login prompts: when a getty that waits is one, what is written for it, and what two consoles must show."""

from dataclasses import replace

from bootlab.techniques.model.evidence import Effect, Evidence
from bootlab.techniques.userspace.getty import AT_ONCE, SIZE
from tests.techniques.asking import ALL, NOTHING, applied, why_not
from tests.techniques.userspace.test_cloud_init import image_system

NAME = "userspace_getty_at_once"
STARTED = "[\x1b[0;32m  OK  \x1b[0m] Started \x1b[0;1;39mserial-getty@ttyS0.service\x1b[0m - Serial Getty on ttyS0.\n"
JOB = "[\x1b[0;32m  OK  \x1b[0m] Finished \x1b[0;1;39mgrub-common.service\x1b[0m - Record successful boot.\n"
STARTING = "         Starting \x1b[0;1;39mssh.service\x1b[0m - OpenBSD Secure Shell server...\n"
KERNEL = "[   12.203310] kvm_amd: Nested Paging enabled\n"
PROMPT = "\nDebian GNU/Linux 13 debian ttyS0\n\ndebian login: "
ASKED = "\x1b[!p\x1b]104\x07\x1b[?7h\x1b[6n\x1b[32766;32766H\x1b[6n"
WAITED = STARTED + JOB + STARTING + KERNEL + JOB + JOB + PROMPT


def boot(console: str) -> Evidence:
    return Evidence({}, {}, {}, console, None)


def test_it_applies_where_jobs_ended_between_a_getty_and_its_prompt() -> None:
    for console in ("", JOB + PROMPT, STARTED + JOB):
        assert "tells of no serial-getty@" in why_not(NAME, image_system(), replace(NOTHING, console=console))
    at_once = replace(NOTHING, console=STARTED + KERNEL + PROMPT + JOB)
    assert "did not wait for other jobs" in why_not(NAME, image_system(), at_once)
    changed = applied(NAME, image_system(), replace(NOTHING, console=WAITED))
    assert changed.image is not None and changed.image.files == AT_ONCE and len(AT_ONCE) == 2


def test_its_prompt_comes_before_what_it_waited_for() -> None:
    prove = ALL[NAME].proof.prove
    before = boot(WAITED)
    assert prove(boot(STARTED + PROMPT + JOB * 4), before) is Effect.PROVEN
    assert prove(boot(STARTED + STARTING + JOB + KERNEL * 9 + PROMPT), before) is Effect.PROVEN
    # Debian 13 asks the terminal in between, and the prompt is late all the same.
    assert prove(boot(STARTED + JOB + ASKED + JOB * 4 + ASKED + PROMPT), before) is Effect.PROVEN
    assert prove(boot(STARTED + JOB * 4 + ASKED + PROMPT), before) is Effect.NONE
    assert prove(before, before) is Effect.NONE
    assert prove(boot(STARTED + JOB * 3 + PROMPT), before) is Effect.NOT_SHOWN, "a few less may be chance"
    assert prove(boot(STARTED + JOB), before) is Effect.NOT_SHOWN, "no prompt, no evidence"
    assert prove(boot(STARTED + PROMPT), boot(STARTED + PROMPT)) is Effect.NOT_SHOWN


def test_a_terminal_is_told_its_size_and_asked_no_more() -> None:
    name = "userspace_tty_size_told"
    assert "no terminal that is asked" in why_not(name, image_system(), replace(NOTHING, console=WAITED))
    asks = STARTED + JOB + ASKED + ASKED + PROMPT
    changed = applied(name, image_system(), replace(NOTHING, console=asks))
    assert changed.image is not None and changed.image.files == SIZE
    prove = ALL[name].proof.prove
    assert prove(boot(WAITED), boot(asks)) is Effect.PROVEN
    assert prove(boot(asks), boot(asks)) is Effect.NONE
    assert prove(boot(STARTED + JOB), boot(asks)) is Effect.NOT_SHOWN, "it ended before it would have asked"
