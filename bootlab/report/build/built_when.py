"""When something was built, in words."""


def when_built(build_s: float, *, from_cache: bool) -> str:
    """Return the words; `build_s` are the host seconds that its build took, whenever that was."""
    took = f"{build_s:g} s"
    return f"from the cache; its build took {took}" if from_cache else f"built in {took}"
