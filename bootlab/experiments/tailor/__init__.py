"""A kernel fitted to its job: which options one boot did not use, dropped, built, booted and proved."""
