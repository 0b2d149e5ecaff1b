"""A machine that talks on ptys at a line's rate: `python -m tests.serial.paced_line PTYS BAUD SECONDS LOG`.

It prints the ptys' names, waits for a line on standard input, and then says `said(BAUD, SECONDS)`, every byte when a
UART would have finished sending it. LOG gets, for each line, when its first bit left (monotonic and real time, ns).
Half of the lines come at once and half after a pause, as consoles do.
"""

import os
import random
import sys
import time
import tty
from pathlib import Path

BITS = 10
_PAUSE_S = 0.02
_SLOT_S = 0.001


def said(baud: int, seconds: float) -> list[bytes]:
    """Return the lines, which together take about so long at that rate, without the pauses."""
    lines: list[bytes] = []
    source, left = random.Random(baud), int(baud / BITS * seconds)
    while left > 0:
        number = len(lines)
        text = f"[{number:12.6f}] line {number} " + "".join(
            source.choices("abcdefgh ()=:0123456789", k=source.randrange(70))
        )
        if baud > 1_000_000 and number % 7 == 0:
            # What is no text must come through as well.
            text += source.randbytes(40).replace(b"\n", b"").decode("latin-1")
        lines.append(text.encode("latin-1") + b"\r\n")
        left -= len(lines[-1])
    return lines


def main() -> None:
    ptys, baud, seconds, log = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), Path(sys.argv[4])
    masters = []
    for _ in range(ptys):
        master, slave = os.openpty()
        tty.setraw(slave)
        masters.append(master)
        print(os.ttyname(slave), flush=True)
    lines = said(baud, seconds)
    sys.stdin.readline()
    log.write_text("".join(f"{one} {two}\n" for one, two in speak(masters, lines, baud)))
    # The ptys live until everybody has read: closing them would throw away what nobody has.
    sys.stdin.readline()


def speak(masters: list[int], lines: list[bytes], baud: int) -> list[tuple[int, int]]:
    """Write the lines, and return when the first bit of each left: monotonic and real time in ns."""
    byte_s = BITS / baud
    # Fast lines are written a millisecond at a time, slow ones byte by byte.
    step = max(1, int(_SLOT_S / byte_s)) if baud > 1_000_000 else 1
    stamps, due = [], time.monotonic() + 0.1
    for number, line in enumerate(lines):
        if number % 2 and step == 1:
            due = max(due, time.monotonic()) + _PAUSE_S
        for at in range(0, len(line), step):
            piece = line[at : at + step]
            due += len(piece) * byte_s
            while time.monotonic() < due:
                if due - time.monotonic() > 0.0005:
                    time.sleep(due - time.monotonic() - 0.0003)
            if at == 0:
                sent_ns, back_ns = time.monotonic_ns(), round(len(piece) * byte_s * 1e9)
                stamps.append((sent_ns - back_ns, time.time_ns() - back_ns))
            for master in masters:
                os.write(master, piece)
    return stamps


if __name__ == "__main__":
    main()
