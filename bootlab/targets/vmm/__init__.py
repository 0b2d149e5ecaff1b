"""What VMMs share as targets that are asked over a Unix socket: API, log, process, program, disks."""
