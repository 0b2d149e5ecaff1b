"""Lines of a guest's shell that wait until the machine has little to do, for what comes behind a boot's goal."""

from typing import Final

WHEN_IDLE: Final = """# Returns once five seconds together were quiet, to nine tenths; false after a minute.
idle() {
	for _ in $(seq 12); do
		read -r _ user nice system idle disk _ </proc/stat
		sleep 5
		read -r _ user2 nice2 system2 idle2 disk2 _ </proc/stat
		all=$((user2 + nice2 + system2 + idle2 + disk2 - user - nice - system - idle - disk))
		[ $all -gt 0 ] && [ $(((idle2 - idle) * 10)) -ge $((all * 9)) ] && return 0
	done
	false
}
"""
"""A POSIX shell's: the function `idle`.

Five seconds: whoever is let in wants their session first, and what comes later reads and works for seconds. One look in
five seconds: a look takes milliseconds of the processor, with the `sleep` that it begins, and whoever waits for half a
second of rest, as a mark of kind `idle` does, has none between two looks that are half a second apart.
"""
