"""Serial lines: what `bootlab watch`, grabserial and test labs stamped, and what loaders write by themselves."""
