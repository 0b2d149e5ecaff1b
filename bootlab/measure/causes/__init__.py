"""Why a boot got no further: what its console, its files and its kernel's configuration tell of the cause."""
