"""`bootlab packages`: what each installed package adds to a boot, ranked, and proved by boots without the first."""
