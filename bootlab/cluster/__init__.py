"""Boots on many machines: tasks of a Dask cluster, their inputs by hash, their answers as if they had run here."""
