"""One trial: each technique alone against the baseline, then stacked, each with its verdict."""
