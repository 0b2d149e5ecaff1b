"""How a system is changed: the knobs that techniques of several files turn, and what they ask of a system first."""
