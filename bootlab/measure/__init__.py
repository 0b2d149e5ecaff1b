"""How long a boot took: one boot, a series, statistics, host facts, the record."""
