"""Android's boot markers: an event's own number is its time, and properties have three units."""

import pytest

from bootlab.importers.reading.source import FormatError
from tests.importers.samples import phases_ms, recording_of, sample


def test_events_are_timed_by_their_number_and_not_by_the_clock_that_jumps() -> None:
    boot = sample("android/logcat-events.txt")
    # The log's clock goes from 5 October to 8 February between the first two, which are 2.17 s apart.
    assert phases_ms(boot)["kernel and init"] == 7003 and phases_ms(boot)["from start"] == 2170
    assert sum(phases_ms(boot).values()) == 20133
    assert boot.timeline.events[-1].name == "wm_boot_animation_done"


def test_a_framework_that_starts_days_after_its_kernel_is_no_boot_of_it() -> None:
    boot = sample("other-origins/logcat-container.txt")
    assert phases_ms(boot) == {"from start": 2600, "from system_run": 19549}
    assert boot.notes[0].startswith("The framework started 8627 minutes after the kernel")


def test_a_restart_of_the_framework_does_not_move_the_first_boot() -> None:
    boot = sample("android/logcat-events.txt")
    assert boot.timeline.events[0].t_ns == 7_003_000_000
    assert boot.notes == ("1 markers came again, when the framework restarted; the first of each counts.",)


def test_the_older_form_of_logcat() -> None:
    boot = recording_of(
        b"07-15 04:13:35.244 I/boot_progress_start( 1059): 4040\n"
        b"01-01 08:00:25.351 I/boot_progress_preload_start(67): 23020  // Zygote\n"
    )
    assert [one.t_ns for one in boot.timeline.events] == [4_040_000_000, 23_020_000_000]


def test_properties_in_ns_and_ms() -> None:
    boot = sample("android/getprop.txt")
    assert {one.name: one.t_ns for one in boot.timeline.events}["init"] == 330_826_093
    assert {one.name: one.took_ns for one in boot.lengths} == {
        "init.cold_boot_wait": 75_000_000, "init.first_stage": 640_173_802, "init.modules": 359_000_000,
        "init.mount_all.default": 429_000_000, "init.selinux": 159_984_219,
    }  # fmt: skip
    assert boot.notes == ()


def test_a_device_that_gives_inits_start_in_ms() -> None:
    boot = recording_of(
        b"[ro.boottime.init]: [819]\n[ro.boottime.init.selinux]: [120]\n[ro.boottime.healthd]: [2169728645]\n"
    )
    assert boot.timeline.events[0].t_ns == 819_000_000 and boot.lengths[0].took_ns == 120_000_000
    assert boot.notes == ("2 of init's properties are too small for nanoseconds: read as milliseconds.",)


def test_no_markers() -> None:
    with pytest.raises(FormatError, match="Android boot markers"):
        recording_of(b"[ro.product.board]: [x]\n", format_name="android")


def test_markers_by_themselves() -> None:
    boot = recording_of(b"boot_progress_start: 4040\nboot_progress_preload_start: 5100\n")
    assert boot.format == "android" and phases_ms(boot) == {"kernel and init": 4040, "from start": 1060}


@pytest.mark.parametrize(
    ("row", "hint"),
    [
        ("07-15 04:13:35.244 I/Vold    (  103): Vold 2.1 firing up", "adb logcat -d -b events"),
        ("07-15 04:13:35.244   103   104 D Vold    : USB mass storage", "adb logcat -d -b events"),
        ("I/Vold    (  103): Vold 2.1 firing up", "adb logcat -d -b events"),
        ("[ro.product.board]: [x]", "on older ones"),
    ],
)
def test_what_android_says_without_a_marker_is_named_with_where_markers_are(row: str, hint: str) -> None:
    with pytest.raises(FormatError, match="Android's") as caught:
        recording_of(f"--------- beginning of /dev/log/main\n{row}\n{row}\n{row}\n".encode())
    assert caught.value.hint is not None and hint in caught.value.hint


def test_a_marker_far_behind_in_a_log_of_all_buffers_is_found() -> None:
    rows = ["07-15 04:13:35.244   103   104 D Vold    : USB mass storage is not enabled in the kernel"] * 2000
    one = recording_of("\n".join([*rows, "07-15 04:13:39.244   71   71 I boot_progress_start: 4040"]).encode())
    assert one.format == "android" and [event.t_ns for event in one.timeline.events] == [4_040_000_000]
