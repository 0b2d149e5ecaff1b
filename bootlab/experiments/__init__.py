"""Does it help: families of boots, verdicts, trials, sweeps, tailoring, and the runs that keep them."""
