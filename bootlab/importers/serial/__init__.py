"""Serial lines with the host's stamps: what `bootlab watch` and grabserial wrote."""
