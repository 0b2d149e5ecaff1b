"""bootlab: measure a Linux boot from power-on, find what saves time, and prove it."""

__version__ = "0.2.0.dev0"
