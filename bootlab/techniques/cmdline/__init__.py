"""Techniques that are words on the kernel's command line; files of a subject are named as those of kernel/."""
