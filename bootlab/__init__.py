"""bootlab: measure a Linux boot from power-on, find what saves time, and prove it."""

__version__ = "0.1.0"
