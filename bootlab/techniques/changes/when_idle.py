"""Lines of a guest's shell that wait until the machine has little to do, for what comes behind a boot's goal."""

from typing import Final

WHEN_IDLE: Final = """# Returns once $1 half seconds in a row were quiet, to nine tenths of each; false after a minute.
idle() {
	quiet=0
	for _ in $(seq 120); do
		read -r _ user nice system idle disk _ </proc/stat
		sleep 0.5
		read -r _ user2 nice2 system2 idle2 disk2 _ </proc/stat
		all=$((user2 + nice2 + system2 + idle2 + disk2 - user - nice - system - idle - disk))
		quiet=$((quiet + 1))
		[ $all -gt 0 ] && [ $(((idle2 - idle) * 10)) -ge $((all * 9)) ] || quiet=0
		[ $quiet -lt "$1" ] || return 0
	done
	false
}
"""
"""A POSIX shell's: the function `idle`."""
QUIET_HALVES: Final = 10
"""Five seconds: whoever is let in wants their session first, and what comes later reads and works for seconds."""
