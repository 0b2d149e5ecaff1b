"""Does it help: plan, engine, store, verdict."""
