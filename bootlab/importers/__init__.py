"""Recordings of other tools, read: one format a file, bytes in, timeline out."""
