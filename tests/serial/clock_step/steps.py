"""In the guest: two ptys say a line a second, one to our reader, one to grabserial; then the date is set."""

import os
import subprocess
import sys
import time
import tty

from bootlab.measure.watch import Watch, WatchedLine, WatchRequest
from bootlab.targets.serial.port import LineSettings, open_port
from bootlab.targets.serial.reader import Chunk, SerialReader

LINES, STEP_AT, STEP_S = 8, 4, 3600


def new_pty() -> tuple[int, str]:
    master, slave = os.openpty()
    tty.setraw(slave)
    return master, os.ttyname(slave)


def main() -> int:
    (ours, our_name), (theirs, their_name) = new_pty(), new_pty()
    grab = subprocess.Popen(["python3", "/usr/bin/grabserial", "-S", "-d", their_name, "-t", "-Q", "-o", "/grabbed"])
    port = open_port(our_name, LineSettings())
    with SerialReader([port]) as reader:
        while not os.path.exists("/grabbed"):
            time.sleep(0.1)
        time.sleep(5)
        began_ns = time.monotonic_ns()
        for number in range(LINES):
            if number == STEP_AT:
                time.clock_settime(time.CLOCK_REALTIME, time.time() + STEP_S)
            for end in (ours, theirs):
                os.write(end, b"line %d\n" % number)
            time.sleep(1)
        watch = Watch(WatchRequest(), [port.byte_ns], began_ns)
        deltas = []
        while (one := reader.next(0.1)) is not None:
            assert isinstance(one, Chunk)
            deltas += [
                happened.delta_ns / 1e9
                for happened in watch.take(0, one.t_ns, one.data)
                if isinstance(happened, WatchedLine)
            ]
    grab.terminate()
    grab.wait()
    with open("/grabbed") as file:
        grabbed = [float(line.split("]")[0].split()[1]) for line in file if line.startswith("[")]
    print("bootlab: fact watch_deltas", *(f"{delta:.3f}" for delta in deltas[1:]), flush=True)
    print("bootlab: fact grabserial_deltas", *(f"{delta:.3f}" for delta in grabbed[1:]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
