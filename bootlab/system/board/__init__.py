"""A board: where it keeps what it boots from, what its parts take, and which parts of a system it goes with."""
