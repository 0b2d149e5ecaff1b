"""What the boot did, as tables: initcalls, processes, system calls, interrupts, devices, and the account of it all."""
